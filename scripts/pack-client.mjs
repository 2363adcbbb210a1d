import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensureInstalled, fail, note, root, run, tool, underProjectNode } from './ensure.mjs'

// node scripts/pack-client.mjs [DIRECTORY]: the typed client as a package that npm installs, in dist/ without a directory.
await ensureInstalled()
await underProjectNode()
const destination = resolve(process.argv[2] ?? join(root, 'dist'))
const { name, version, license, engines, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const contents = join(destination, 'client')
rmSync(contents, { recursive: true, force: true })
mkdirSync(contents, { recursive: true })

const { build } = await import('esbuild')
await build({
  absWorkingDir: root,
  entryPoints: ['contract/sdk.ts'],
  outfile: join(contents, 'client.js'),
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  packages: 'external',
  target: 'es2022',
})

const compiler = ['--declaration', '--emitDeclarationOnly', '--strict', '--skipLibCheck', '--ignoreConfig']
const modules = ['--target', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler']
const places = ['--rootDir', join(root, 'contract'), '--outDir', join(contents, 'types')]
const code = await tool('tsc', [join(root, 'contract/sdk.ts'), ...compiler, ...modules, ...places])
if (code !== 0) fail('The types of the client could not be written.')
// Node resolves no path without its extension, and neither does a compiler that follows Node.
for (const file of readdirSync(join(contents, 'types'))) {
  const path = join(contents, 'types', file)
  writeFileSync(path, readFileSync(path, 'utf8').replace(/((?:from|import\() ?['"]\.\/[\w-]+)/g, '$1.js'))
}

writeFileSync(
  join(contents, 'package.json'),
  JSON.stringify(
    {
      name,
      version,
      description: 'The typed client of the User Account Service, for browsers and Node.',
      license,
      type: 'module',
      sideEffects: false,
      engines,
      exports: { './client': { types: './types/sdk.d.ts', default: './client.js' } },
      dependencies: { zod: `^${dependencies.zod}` },
    },
    null,
    2,
  ),
)
writeFileSync(
  join(contents, 'README.md'),
  `# ${name}

\`\`\`ts
import { changeEmail, createClient } from '${name}/client'

const call = createClient({ baseUrl: 'https://accounts.example.com', accessToken: () => token })
await call(changeEmail, { userId }, { new_email, current_password })
\`\`\`

The service describes every operation at \`/docs/api\`. A refusal throws an \`ApiError\`, whose \`code\` never changes.
`,
)
const packed = await run('npm', ['pack', contents, '--pack-destination', destination, '--loglevel=error'], {
  stdio: ['ignore', 'ignore', 'inherit'],
  shell: process.platform === 'win32',
})
if (packed !== 0) fail('npm pack failed.')
note(`npm install ${join(destination, `${name}-${version}.tgz`)}`)
