import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

/** From the ground up, as docs/map.md says it. */
const ORDER = (/^> (.+)$/m.exec(readFileSync('docs/map.md', 'utf8'))?.[1] ?? '').split(' · ')

/** Lists that are assembled above the rooms. Every other file of domain/ itself lies below them, as limits/ does. */
const ABOVE_THE_ROOMS = ['domain/due-work.ts', 'domain/notices.ts']

function heightOf(file: string): number {
  if (ABOVE_THE_ROOMS.includes(file)) return ORDER.length
  const room = path.relative('domain', path.dirname(file))
  return room === '' || room === 'limits' ? 0 : ORDER.indexOf(room)
}

const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(
    ([, target]) => `${path.join(path.dirname(file), target ?? '')}.ts`,
  )

const files = globSync('domain/**/*.ts').filter(
  (file) => !file.endsWith('.test.ts') && file !== 'domain/mail/notice-kinds.ts',
)

test('every room of domain/ has its place in the order of docs/map.md, and the order names no other', () => {
  const rooms = new Set(files.map((file) => path.relative('domain', path.dirname(file))).filter(Boolean))
  expect(rooms).toEqual(new Set(ORDER))
})

test('no file of domain/ imports from a room above its own', () => {
  const up = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => heightOf(target) > heightOf(file))
      .map((target) => `${file} -> ${target}`),
  )
  expect(up, 'Move the file to the room that it belongs to, pass a function in, or let a list above assemble.').toEqual(
    [],
  )
})
