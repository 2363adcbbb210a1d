import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '@/contract/operations'

const fileOf = (path: string) => `app/api/v1${path.replaceAll(/\{(\w+)\}/g, '[$1]')}/route.ts`
const namesIn = (file: string) => [...readFileSync(file, 'utf8').matchAll(/'(\w+)'/g)].map(([, name]) => name)

test('each operation stands in the route file of its path, and no route file names another', () => {
  const files = Map.groupBy(operations, ({ path }) => fileOf(path))
  const found = [...files].map(([file]) => [file, existsSync(file) ? namesIn(file).sort() : 'there is no such file'])
  expect(found).toEqual([...files].map(([file, of]) => [file, of.map(({ name }) => name).sort()]))
  const others = globSync('app/api/v1/**/route.ts').filter((file) => !files.has(file))
  expect(others.sort()).toEqual(['app/api/v1/[[...path]]/route.ts', 'app/api/v1/openapi.json/route.ts'])
})
