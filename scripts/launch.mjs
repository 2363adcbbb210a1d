import { launch } from './ensure.mjs'

// node scripts/launch.mjs <script> …: how npm runs a script in TypeScript, on whatever Node the machine has.
await launch()
