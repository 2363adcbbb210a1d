import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const FOLDERS = ['app', 'components', 'contract', 'domain', 'emails', 'inngest', 'messages', 'server']

test("the product's name is written in one place, so that PRODUCT_NAME replaces it everywhere", () => {
  const root = path.join(import.meta.dirname, '../..')
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
  )
  const isSource = (name: string) => /\.(?:tsx?|json|svg|css)$/.test(name) && !/\.test\.tsx?$/.test(name)
  const sources = files.filter((name) => isSource(name) && statSync(path.join(root, name)).isFile())
  expect(sources.length).toBeGreaterThan(300)
  const named = sources.filter((name) => readFileSync(path.join(root, name), 'utf8').includes('User Account Service'))
  expect(named).toEqual(['server/settings/brand-settings.ts'])
})
