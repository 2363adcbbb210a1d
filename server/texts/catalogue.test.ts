import { expect, test } from 'vitest'
import { LANGUAGES } from '@/contract/languages'
import { FRAME, pseudoTexts } from '@/e2e/texts'
import { compileCatalogue, flatten, parametersOf, SOURCES } from './catalogue'

const english = new Map(flatten(SOURCES.en))

test.for(LANGUAGES)('%s has every text, no other, and each takes the same values', (language) => {
  const texts = new Map(flatten(SOURCES[language]))
  expect([...texts.keys()].sort()).toEqual([...english.keys()].sort())
  const different = [...texts].filter(
    ([key, text]) => String(parametersOf(text)) !== String(parametersOf(english.get(key) ?? '')),
  )
  expect(different.map(([key]) => key)).toEqual([])
})

test('a pseudo text takes the same values as the English one, and its words are at least 40 % longer', () => {
  // Without digits, which stay as they are, and the marks, which take no room.
  const wordsOf = (text: string) =>
    text
      .split(FRAME)
      .filter((_, index) => index % 2 === 0)
      .join('')
      .replace(/[\d.\p{Cf}]/gu, '')
  for (const [key, text] of flatten(pseudoTexts)) {
    const original = english.get(key) ?? ''
    expect(parametersOf(text), key).toEqual(parametersOf(original))
    expect(wordsOf(text).length, key).toBeGreaterThanOrEqual(wordsOf(original).length * 1.4)
  }
})

test('the areas of the texts, and the texts of an area, stand in alphabetical order', () => {
  const areas = Object.entries(SOURCES.en)
  expect(areas.map(([area]) => area)).toEqual(areas.map(([area]) => area).toSorted())
  for (const [, texts] of areas) expect(Object.keys(texts)).toEqual(Object.keys(texts).toSorted())
})

test('a compiled text with a choice is made of plain objects, which alone go to a client component', () => {
  const texts = { Blockers: { title: '{count, plural, one {one thing} other {# things}}' } }
  const foreign: unknown[] = []
  const look = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) foreign.push(value)
    Object.values(value).forEach(look)
  }
  look(compileCatalogue('en', texts))
  expect(foreign).toEqual([])
})
