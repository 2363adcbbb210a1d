import { begin, ensureBuilt } from './ensure.mjs'

await begin()
await ensureBuilt('account')
await import(new URL('../dist/account.mjs', import.meta.url).href)
