import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/asvs.md', 'utf8')
const guarantees = new Set(
  [...readFileSync('docs/guarantees.md', 'utf8').matchAll(/^\| ([BFLI]\d+) \|/gm)].map(([, id]) => id),
)
const ROW = /^\| (\d+\.\d+\.\d+) \| ([123]) \| (.+?) \| (yes|argued|no) \| (.+) \|$/gm
const rows = [...page.matchAll(ROW)].map(([, id = '', level, , answer, reason = '']) => ({ id, level, answer, reason }))
const idsIn = (text: string) => text.match(/\b[BFLI]\d+\b/g) ?? []
const linksIn = (text: string) => [...text.matchAll(/\]\(([^)#]+)?(?:#[^)]*)?\)/g)].map(([, file]) => file ?? 'asvs.md')

test('docs/asvs.md names guarantees that there are, and pages that there are', () => {
  expect(rows.length).toBeGreaterThan(100)
  expect(rows.flatMap(({ reason }) => idsIn(reason)).filter((id) => !guarantees.has(id))).toEqual([])
  const files = rows.flatMap(({ reason }) => linksIn(reason)).map((file) => `docs/${file}`)
  expect(files.filter((file) => !existsSync(file))).toEqual([])
  const tests = rows.flatMap(({ reason }) =>
    [...reason.matchAll(/`([\w/.-]+\/[\w.-]+\.tsx?)`/g)].map(([, file]) => file ?? ''),
  )
  expect(tests.filter((file) => !existsSync(file))).toEqual([])
})

test('docs/asvs.md has a guarantee or a page for each yes, and no requirement twice', () => {
  const bare = rows.filter(
    ({ answer, reason }) => answer === 'yes' && [...idsIn(reason), ...linksIn(reason)].length === 0,
  )
  expect(bare.map(({ id }) => id)).toEqual([])
  expect(rows.map(({ id }) => id).filter((id, place, all) => all.indexOf(id) !== place)).toEqual([])
})

test('docs/asvs.md counts its answers, and has no “no” at levels 1 and 2', () => {
  const counted = [...page.matchAll(/^\| ([123]) \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map(([, level, ...counts]) => ({
    level,
    counts,
  }))
  const expected = ['1', '2', '3'].map((level) => ({
    level,
    counts: ['yes', 'argued', 'no'].map((word) =>
      String(rows.filter((row) => row.level === level && row.answer === word).length),
    ),
  }))
  expect(counted).toEqual(expected)
  expect(rows.filter(({ level, answer }) => answer === 'no' && level !== '3').map(({ id }) => id)).toEqual([])
})
