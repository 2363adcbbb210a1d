import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDERS = '{cli,components,contract,domain,e2e,emails,faults,inngest,lab,prisma,proof,scripts,server}'
const TESTS = globSync([`${FOLDERS}/**/*.{test,spec}.{ts,tsx}`, 'proof/service/*.ts', 'lab/hosts/journeys.ts'])

/** A string right after `test(`, `describe(` or the closing parenthesis of `test.each(…)` and its like. */
const TITLE = /(?:\b(?:test|it|describe)(?:\.\w+)?|\))\(\s*(['"`])((?:(?!\1).)*)\1/g
/** Every id is written out, so that `vitest -t` finds it. */
const IDS = /^(?:[BFLI]\d+ )+/
const idsIn = (title: string): string[] => IDS.exec(title)?.[0].trim().split(' ') ?? []

const idsOf = (text: string) => [...text.matchAll(TITLE)].flatMap(([, , title = '']) => idsIn(title))

/** `id file`, once for each id in a title of each file. */
const titled = new Set(TESTS.flatMap((file) => idsOf(readFileSync(file, 'utf8')).map((id) => `${id} ${file}`)))

const rows = readFileSync('docs/guarantees.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| [BFLI]\d+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
/** The rows that name a test; a row without one says in its last cell why there is none. */
const tabled = rows.flatMap(([, id, , tests = '']) =>
  [...tests.matchAll(/`([^` ]+\.ts)`/g)].map(([, file]) => `${id} ${file}`),
)

test('docs/guarantees.md names exactly the tests whose titles carry its ids', () => {
  const missing = [...titled].filter((pair) => !tabled.includes(pair))
  expect(missing, 'Add these tests to the row of their id in docs/guarantees.md').toEqual([])
  const untested = tabled.filter((pair) => !titled.has(pair))
  expect(untested, 'Begin a title in this file with the id, or take the file out of the row').toEqual([])
})

test('docs/guarantees.md has one row for each id', () => {
  const ids = rows.map(([, id]) => id ?? '')
  expect(ids.length).toBeGreaterThan(150)
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
})

test('the search finds the ids of every form of title', () => {
  const title = `F1 F2 I1 ${'x'}`
  for (const call of [`test('${title}', `, `test.skipIf(a)(\n  "${title}", `, `test.each([1])(\`${title}\`, `]) {
    expect(idsOf(call)).toEqual(['F1', 'F2', 'I1'])
  }
  expect(idsOf(`repeat('F1 on one', 2); test('a B1 in the middle')`)).toEqual([])
})
