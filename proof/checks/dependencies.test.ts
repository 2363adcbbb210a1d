import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { expect, test } from 'vitest'

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const product = read('package.json')
const DECISION = readFileSync('docs/decisions/0003-dependencies.md', 'utf8')

/** The package of a specifier, or null for a file of ours and a module of Node. */
function packageOf(specifier: string): string | null {
  if (/^(?:[./]|@\/|node:|account-parts\/)/.test(specifier) || builtinModules.includes(specifier)) return null
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** The packages that code imports when it runs: types are gone by then. */
function importedBy(text: string): string[] {
  const code = text.replaceAll(/^(?:import|export) type [^;]*?from '[^']+'/gm, '')
  const found = code.matchAll(/(?:\bfrom |\bimport\(|^import |^@import )['"]([^'"\n]+)['"]/gm)
  return [...found].flatMap(([, specifier = '']) => packageOf(specifier) ?? [])
}

const RUNNING = '{app,server,domain,contract,components,emails,inngest,cli,prisma/generated}/**/*.{ts,tsx,css}'

test('F67 every package that the running service imports is in dependencies, where audits and scanners look', () => {
  const files = [...globSync(RUNNING), 'instrumentation.ts'].filter((file) => !/\.test\.tsx?$|\.d\.ts$/.test(file))
  expect(files.length).toBeGreaterThan(400)
  const imported = new Map(files.flatMap((file) => importedBy(readFileSync(file, 'utf8')).map((name) => [name, file])))
  expect(imported.has('next-auth') && imported.has('tailwindcss') && imported.has('@prisma/client')).toBe(true)
  // The samples of the reference import the typed client by the name of this package.
  imported.delete(product.name)
  expect([...imported].filter(([name]) => !(name in product.dependencies))).toEqual([])
})

test('at most three overrides, each below the package that needs it, and nothing is changed inside node_modules', () => {
  const overrides = Object.entries(product.overrides)
  expect(overrides.length).toBeLessThanOrEqual(3)
  for (const [name, nested] of overrides) {
    expect(nested).toBeTypeOf('object')
    expect(DECISION).toContain(`override of ${name}`)
  }
  expect(Object.keys(product.scripts).filter((name) => /^(?:pre|post)?(?:install|prepare)/.test(name))).toEqual([])
})

test('nothing but server/pages imports next-auth, so that leaving it touches one folder', () => {
  const users = globSync('{app,server,domain,contract,components,emails,inngest,cli}/**/*.{ts,tsx}').filter((file) =>
    /(?:from |import\(|^import )'next-auth[/']/m.test(readFileSync(file, 'utf8')),
  )
  expect(users.length).toBeGreaterThan(3)
  expect(users.filter((file) => !file.startsWith('server/pages/'))).toEqual([])
})

test('each dependency is pinned and has its reason in decision 0003, and package.json has at most fourteen scripts', () => {
  const all: Record<string, string> = { ...product.dependencies, ...product.devDependencies }
  expect(Object.entries(all).filter(([, version]) => !/^\d/.test(version))).toEqual([])
  const named = new Set([...DECISION.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names = '']) => names.split(/, /)))
  const withoutReason = Object.keys(all).filter((name) => !name.startsWith('@types/') && !named.has(name))
  expect(withoutReason).toEqual([])
  expect(Object.keys(product.scripts).length).toBeLessThanOrEqual(14)
})

/** Folders of experiments whose packages npm installs beside the project. */
const BESIDE = globSync('lab/*/package.json')

test('each experiment pins what it installs', () => {
  const versions = BESIDE.flatMap((file) => Object.values<string>(read(file).dependencies))
  expect(versions.length).toBeGreaterThan(5)
  expect(versions.filter((version) => !/^\d/.test(version))).toEqual([])
})

test('actions and the bases of images are pinned by a digest', () => {
  const workflows = globSync('.github/workflows/*.yml').map((file) => readFileSync(file, 'utf8'))
  const used = workflows.flatMap((text) => [...text.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action))
  const bases = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base)
  expect(Math.min(used.length, bases.length)).toBeGreaterThan(1)
  expect(used.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([])
  expect(bases.filter((base) => !/@sha256:[0-9a-f]{64}$/.test(base))).toEqual([])
})
