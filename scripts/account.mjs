import { begin, ensureBuilt } from './ensure.mjs'

await begin()
await ensureBuilt('account')
await import('../dist/account.mjs')
