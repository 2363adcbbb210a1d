import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import type { BuildOptions } from 'esbuild'
import { withLock } from '../server/local/process-lock.mjs'
import { fail, isBuilt, note, root, sourceHash, tool } from './ensure.mjs'

// npm run build [-- account] [--if-stale]
const part = process.argv[2] === 'account' ? 'account' : 'build'
// Not bundled: Next, tracing, which few switch on, and what production never loads. All else is inside, so that the packed service is small.
const NOT_BUNDLED = [
  ...['next', 'pg-native', 'oidc-provider', 'prettier'],
  ...['@opentelemetry/exporter-trace-otlp-http', '@opentelemetry/resources', '@opentelemetry/sdk-trace'],
]
/** A thread needs a file of its own. */
const PASSWORD_WORKER = 'dist/password-worker.mjs'
const onlyIfStale = process.argv.includes('--if-stale')

await withLock(
  join(root, '.data/build.lock'),
  async () => {
    if (onlyIfStale && isBuilt(part)) return
    // Computed first, so that a change during the build makes it stale.
    const hashes = { account: sourceHash('account'), build: sourceHash('build') }
    note(part === 'build' ? 'Building, which takes about a minute …' : 'Preparing the account command …')
    await must('prisma generate', tool('prisma', ['generate'], { quiet: true }))
    await (part === 'build' ? buildService() : bundlePrograms({ account: 'cli/main.ts' }))
    await bundle('server/adapters/password-worker.ts', {
      platform: 'node',
      packages: 'external',
      outfile: PASSWORD_WORKER,
    })
    writeFileSync(join(root, 'dist/.account-hash'), hashes.account)
    if (part === 'build') writeFileSync(join(root, 'dist/.build-hash'), hashes.build)
  },
  () => note('Waiting for another process that builds …'),
)

/** The pages, the server with the account command, and the typed client. */
async function buildService() {
  await must('next build', tool('next', ['build'], { quiet: true, env: { NODE_ENV: 'production' } }))
  await compressStaticFiles()
  rmSync(join(root, 'dist/parts'), { recursive: true, force: true })
  await bundlePrograms({ server: 'server/main.ts', account: 'cli/main.ts' })
  await bundle('contract/sdk.ts', { platform: 'neutral', packages: 'external', outfile: 'dist/client.mjs' })
}

/**
 * Bundles programs with their packages, because finding and reading their files is most of the cost of a start. Dynamic imports, and what
 * two programs share, stay in files of their own, below dist/parts/.
 */
async function bundlePrograms(entryPoints: Record<string, string>) {
  await bundle(Object.values(entryPoints).join(' and '), {
    entryPoints,
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    chunkNames: 'parts/[name]-[hash]',
    splitting: true,
    platform: 'node',
    external: NOT_BUNDLED,
    define: { 'process.env.NODE_ENV': '"production"', PASSWORD_WORKER_FILE: JSON.stringify(PASSWORD_WORKER) },
    // CommonJS packages need `require`. An older Node would fail later, with the name of what it does not have.
    banner: {
      js: `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
if (Number.parseInt(process.versions.node) < 24) { console.error('Node 24 is needed, and this is ' + process.version + '.'); process.exit(1); }`,
    },
  })
}

async function bundle(from: string, options: BuildOptions) {
  const { build } = await import('esbuild')
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [from],
      bundle: true,
      format: 'esm',
      target: 'node20.19',
      tsconfig: 'tsconfig.json',
      jsx: 'automatic',
      sourcemap: true,
      alias: {
        'use-intl/format-message': 'use-intl/format-message/format-only',
        // The mark that keeps a file out of browsers; elsewhere its package throws.
        'server-only': join(root, 'node_modules/server-only/empty.js'),
      },
      logLevel: 'warning',
      ...options,
    })
  } catch {
    fail(`Bundling ${from} failed.`)
  }
}

/** `server/pages/static-files.ts` serves them. */
async function compressStaticFiles() {
  const compress = promisify(brotliCompress)
  const dir = join(root, '.next/static')
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(js|css)$/.test(name))
  await Promise.all(
    names.map(async (name) => writeFileSync(join(dir, `${name}.br`), await compress(readFileSync(join(dir, name))))),
  )
}

async function must(name: string, exit: Promise<number>) {
  if ((await exit) !== 0) fail(`${name} failed.`)
}
