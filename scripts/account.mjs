import { ensureBuilt, ensureInstalled, isProjectNode, projectNode, root, run } from './ensure.mjs'

process.chdir(root)
await ensureInstalled()
await ensureBuilt('account')

if (isProjectNode()) await import('../dist/account.mjs')
else {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  process.exitCode = await run(projectNode(), ['dist/account.mjs', ...process.argv.slice(2)])
}
