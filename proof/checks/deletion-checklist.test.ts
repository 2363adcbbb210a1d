import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/deletion-checklist.md', 'utf8')
const guarantees = new Set(
  [...readFileSync('docs/guarantees.md', 'utf8').matchAll(/^\| ([BFLI]\d+) \|/gm)].map(([, id]) => id),
)
const rows = [...page.matchAll(/^\| (link|content|functionality) \| .+ \| (.+) \|$/gm)].map(
  ([, fault = '', shownBy = '']) => ({ fault, shownBy }),
)

test('docs/deletion-checklist.md answers every class of fault, with guarantees that there are or as yours', () => {
  expect(new Set(rows.map(({ fault }) => fault))).toEqual(new Set(['link', 'content', 'functionality']))
  expect(rows.length).toBeGreaterThan(10)
  const named = rows.flatMap(({ shownBy }) => shownBy.match(/\b[BFLI]\d+\b/g) ?? [])
  expect(named.filter((id) => !guarantees.has(id))).toEqual([])
  expect(rows.filter(({ shownBy }) => !/\b[BFLI]\d+\b|\byours\b/.test(shownBy))).toEqual([])
})
