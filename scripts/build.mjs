import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled, fail, isBuilt, note, root, sourceHash, tool, underProjectNode } from './ensure.mjs'
import { withLock } from './process-lock.mjs'

// node scripts/build.mjs [build | account] [--if-stale]
const part = process.argv[2] === 'account' ? 'account' : 'build'
const onlyIfStale = process.argv.includes('--if-stale')

await ensureInstalled()
await underProjectNode()
await withLock(
  join(root, '.data/build.lock'),
  async () => {
    if (onlyIfStale && isBuilt(part)) return
    // Taken first: what changes while the build runs makes it stale.
    const hashes = { account: sourceHash('account'), build: sourceHash('build') }
    note(part === 'build' ? 'Building …' : 'Preparing the account command …')
    await must('prisma generate', tool('prisma', ['generate'], { quiet: true }))
    if (part === 'build') {
      const env = { NODE_ENV: 'production' }
      await must('next build', tool('next', ['build'], { quiet: true, env }))
      await bundle('server/main.ts', 'dist/server.mjs')
      await bundle('contract/sdk.ts', 'dist/client.mjs', { platform: 'neutral' })
    }
    await bundle('scripts/account.ts', 'dist/account.mjs')
    writeFileSync(join(root, 'dist/.account-hash'), hashes.account)
    if (part === 'build') writeFileSync(join(root, 'dist/.build-hash'), hashes.build)
  },
  () => note('Waiting for another process that builds …'),
)

async function bundle(from, to, options = {}) {
  const { build } = await import('esbuild')
  mkdirSync(join(root, 'dist'), { recursive: true })
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [from],
      outfile: to,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      packages: 'external',
      tsconfig: 'tsconfig.json',
      jsx: 'automatic',
      sourcemap: true,
      logLevel: 'warning',
      ...options,
    })
  } catch {
    fail(`Bundling ${from} failed.`)
  }
}

async function must(name, exit) {
  if ((await exit) !== 0) fail(`${name} failed.`)
}
