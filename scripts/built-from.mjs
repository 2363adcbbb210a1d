import { execFileSync } from 'node:child_process'
// A Node that is older than the project's begins here, and has no globSync.
import fs, { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fail, root } from './ensure.mjs'

/** Never loaded in production: what resizes images, of which no page has any, what builds and develops, and the demo provider. */
const UNUSED = [
  'node_modules/{sharp,oidc-provider/**}',
  'node_modules/next/dist/compiled/{webpack,babel,babel-packages,terser,next-devtools,@vercel/og,@vercel/nft}/**',
  'node_modules/next/dist/compiled/next-server/*{.dev.js,-experimental.runtime.prod.js}',
  'node_modules/next/dist/server/capsize-font-metrics.json',
  'node_modules/**/*.{md,map,d.ts,d.mts,d.cts}',
]
/** No source map names it. */
const FONTS = 'node_modules/geist/package.json'
const PACKAGE = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/

export const programs = () => fs.globSync(['dist/{server,account,password-worker}.mjs', 'dist/parts/*.mjs'])

/** The files of packages that the built service loads: what Next found for its server and each page, and what the programs load. */
export async function loadedFiles() {
  const { nodeFileTrace } = createRequire(import.meta.url)('next/dist/compiled/@vercel/nft')
  const { fileList } = await nodeFileTrace(programs(), { base: root, processCwd: root, ignore: UNUSED })
  const found = fs
    .globSync(['.next/next-server.js.nft.json', '.next/server/**/*.nft.json'])
    .flatMap((list) => JSON.parse(readFileSync(list, 'utf8')).files.map((file) => path.join(path.dirname(list), file)))
  const isUsed = (file) => !UNUSED.some((pattern) => path.matchesGlob(file, pattern))
  const all = [...new Set([...fileList, ...found])]
  const files = all.filter((file) => file.startsWith('node_modules/') && isUsed(file) && existsSync(file))
  const { packages } = lock()
  // Next names the package.json of some packages of which it loads nothing.
  const code = files.filter((file) => !file.endsWith('/package.json'))
  const ofDevelopment = placesOf(code).filter((place) => packages[place]?.dev)
  if (ofDevelopment.length)
    fail(`The service loads these, so package.json must name them in dependencies: ${ofDevelopment}`)
  return files
}

/**
 * Node and every package that the service loads or holds code of, and where each lies. The time and number that make two lists of one build
 * differ are left out.
 */
export function billOfMaterials(loaded) {
  const { name, version, packages } = lock()
  const places = placesOf([...loaded, ...bundledFiles(), FONTS]).filter((place) => packages[place])
  const made = new Set(places.map((place) => `${place.replace(/^.*node_modules\//, '')}@${packages[place].version}`))
  const options = { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'ignore'] }
  const all = JSON.parse(execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], options))
  const { serialNumber, dependencies, ...bill } = all
  bill.metadata = { component: { type: 'application', name, version } }
  const node = process.versions.node
  bill.components = [
    { type: 'platform', name: 'node', version: node, purl: `pkg:generic/node@${node}` },
    ...all.components
      .filter((component) => made.has(`${component.name}@${component.version}`))
      // They say which of them are for development here, which a bundle does not tell apart.
      .map(({ properties, ...component }) => component),
  ]
  return { bill, places }
}

/** What the source maps of the bundles name. */
function bundledFiles() {
  return fs
    .globSync(['dist/{*,parts/*}.map', '.next/server/**/*.map'])
    .flatMap((file) => sourcesOf(JSON.parse(readFileSync(file, 'utf8'))))
    .map((file) => decodeURIComponent(file).replace(/^.*?(?=node_modules\/)/, ''))
}

const sourcesOf = ({ sections, sources }) => sections?.flatMap(({ map }) => sourcesOf(map)) ?? sources ?? []

const placesOf = (files) => [...new Set(files.flatMap((file) => PACKAGE.exec(file) ?? []))].sort()

const lock = () => JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
