import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

/** From the ground up, as docs/map.md says it. */
const ORDER = (/^> (.+)$/m.exec(readFileSync('docs/map.md', 'utf8'))?.[1] ?? '').split(' · ')

/** Lists that are assembled above the layers. Every other file of domain/ itself lies below them, as limits/ does. */
const ABOVE_THE_LAYERS = ['domain/due-work.ts', 'domain/notices.ts']

function heightOf(file: string): number {
  if (ABOVE_THE_LAYERS.includes(file)) return ORDER.length
  const layer = path.relative('domain', path.dirname(file))
  return layer === '' || layer === 'limits' ? 0 : ORDER.indexOf(layer)
}

/** Files of ours by their path, packages by their name. */
const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from |import\(|^import )'([\w@.:/-]+)'/gm)].map(([, target = '']) => {
    if (target.startsWith('@/')) return target.slice(2)
    return target.startsWith('.') ? path.join(path.dirname(file), target) : `package ${target}`
  })

/** What the files of a folder import beside each other and packages. The first row that fits a file counts. */
const MAY_IMPORT: [folder: string, ...allowed: string[]][] = [
  ['contract'],
  ['domain', 'contract', 'prisma/generated'],
  ['server', 'contract', 'domain', 'emails', 'messages', 'prisma/generated'],
  ['inngest', 'domain', 'server'],
  ['app/api/v1', 'server/http'],
  ['app/api', 'contract', 'domain', 'server', 'inngest'],
  ['app', 'components', 'contract', 'domain', 'server'],
  ['components', 'contract'],
  ['emails', 'messages'],
  ['examples'],
  ['testing', 'contract', 'domain', 'messages', 'server'],
  ...['cli', 'prisma', 'instrumentation.ts'].map((place): [string, ...string[]] => [
    place,
    'contract',
    'domain',
    'server',
    'package.json',
  ]),
]
const PACKAGES: Record<string, RegExp> = { contract: /^zod(\/|$)/, domain: /^node:/ }
const TESTS = ['e2e', 'faults', 'proof']
const isTest = (file: string) => /\.(test|spec)\.tsx?$/.test(file)
const isIn = (target: string, place: string) => target === place || target.startsWith(`${place}/`)

const strays = (file: string): string[] => {
  const [folder = '', ...allowed] = MAY_IMPORT.find(([place]) => isIn(file, place)) ?? []
  return importsOf(file).filter((target) => {
    if (isIn(target, 'lab')) return true
    if (isTest(file)) return TESTS.some((place) => isIn(target, place) && !isIn(file, place))
    if (target.startsWith('package ')) return !(PACKAGES[folder]?.test(target.slice(8)) ?? true)
    return folder !== '' && ![folder, ...allowed].some((place) => isIn(target, place))
  })
}

test('each folder imports what design allows it, nothing the laboratory, and tests share through the test kit only', () => {
  const all = globSync(
    '{app,cli,components,contract,domain,e2e,emails,examples,faults,inngest,prisma,proof,scripts,server,testing}/**/*.{ts,tsx}',
  )
  const found = [...all, 'instrumentation.ts']
    .filter((file) => !isIn(file, 'prisma/generated'))
    .flatMap((file) => strays(file).map((target) => `${file} -> ${target}`))
  expect(all.length).toBeGreaterThan(400)
  expect(found).toEqual([])
})

const files = globSync('domain/**/*.ts').filter((file) => !file.endsWith('.test.ts'))

test('every layer of domain/ has its place in the order of docs/map.md, and the order names no other', () => {
  const layers = new Set(files.map((file) => path.relative('domain', path.dirname(file))).filter(Boolean))
  expect(layers).toEqual(new Set(ORDER))
})

test('no file of domain/ imports from a layer above its own', () => {
  const up = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => isIn(target, 'domain') && heightOf(`${target}.ts`) > heightOf(file))
      .map((target) => `${file} -> ${target}`),
  )
  expect(
    up,
    'Move the file to the layer that it belongs to, pass a function in, or let a list above assemble.',
  ).toEqual([])
})
