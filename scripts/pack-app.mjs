import { execFileSync } from 'node:child_process'
// A Node that is older than the project's begins here, and has no globSync.
import fs, { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { ensureBuilt, fail, note, root, underProjectNode } from './ensure.mjs'

// npm run pack:app -- <folder>: the built service and the files of packages that it loads, and nothing else.
process.chdir(root)
const [folder] = process.argv.slice(2)
if (!folder) fail('Say where to: npm run pack:app -- <folder>')
await underProjectNode()
await ensureBuilt('build')

/** Never loaded in production: what resizes images, of which no page has any, what builds and develops, and the demo provider. */
const UNUSED = [
  'node_modules/{@img,sharp,oidc-provider}/**',
  'node_modules/next/dist/compiled/{webpack,babel,babel-packages,terser,next-devtools,@vercel/og,@vercel/nft}/**',
  'node_modules/next/dist/compiled/next-server/*{.dev.js,-experimental.runtime.prod.js}',
  'node_modules/next/dist/server/capsize-font-metrics.json',
  'node_modules/**/*.{md,map,d.ts,d.mts,d.cts}',
]
const PROGRAMS = fs.globSync(['dist/{server,account,password-worker}.mjs', 'dist/{server,account}/*.mjs'])

if (existsSync(folder)) fail(`${folder} is there already.`)
for (const file of [...PROGRAMS, ...(await loadedPackages()), 'LICENSE']) {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
  copyFileSync(file, path.join(folder, file))
}
const ofTheBuild = /^\.next\/(cache|build|diagnostics|types|dev|trace|trace-build)$|\.(map|nft\.json)$/
cpSync('.next', path.join(folder, '.next'), {
  recursive: true,
  verbatimSymlinks: true,
  filter: (file) => !ofTheBuild.test(file),
})
cpSync('prisma/migrations', path.join(folder, 'prisma/migrations'), { recursive: true })
const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8'))
writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version, license, type: 'module' }, null, 2))
writeFileSync(path.join(folder, 'sbom.cdx.json'), billOfMaterials())
note(`The service is in ${folder}; start it there with node dist/server.mjs.`)

/** What Next found for its server and each page, and what the programs themselves load. */
async function loadedPackages() {
  const { nodeFileTrace } = createRequire(import.meta.url)('next/dist/compiled/@vercel/nft')
  const { fileList } = await nodeFileTrace(PROGRAMS, { base: root, processCwd: root, ignore: UNUSED })
  const found = fs
    .globSync(['.next/next-server.js.nft.json', '.next/server/**/*.nft.json'])
    .flatMap((list) => JSON.parse(readFileSync(list, 'utf8')).files.map((file) => path.join(path.dirname(list), file)))
  const isUsed = (file) => !UNUSED.some((pattern) => path.matchesGlob(file, pattern))
  const files = new Set([...fileList, ...found])
  return [...files].filter((file) => file.startsWith('node_modules/') && isUsed(file) && existsSync(file))
}

/** Node and every package that the build is made of, without the time and number that make two lists of one lock file differ. */
function billOfMaterials() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev']
  const all = execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'ignore'] })
  const { serialNumber, dependencies, ...bill } = JSON.parse(all)
  bill.metadata = { component: { type: 'application', name, version } }
  const node = process.versions.node
  bill.components.unshift({ type: 'platform', name: 'node', version: node, purl: `pkg:generic/node@${node}` })
  return JSON.stringify(bill, null, 1)
}
