import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parseEnv } from './env'

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

test('B112 the authority to complain to is a name with an https URL, both or neither', () => {
  const url = 'https://authority.example.com/complain'
  const settings = (name: string, link: string) => parseEnv({ AUTHORITY_NAME: name, AUTHORITY_URL: link })
  expect(settings('', '').authority).toBeNull()
  expect(settings('Data Protection Office', url).authority).toEqual({ name: 'Data Protection Office', url })
  for (const other of [
    'http://authority.example.com',
    'authority.example.com',
    'javascript:alert(1)',
    'mailto:a@b.example',
  ])
    expect(() => settings('Data Protection Office', other)).toThrow(
      'AUTHORITY_URL must be an https URL such as https://',
    )
  for (const [name = '', link = ''] of [['Data Protection Office'], ['', url]])
    expect(() => settings(name, link)).toThrow(
      'AUTHORITY_NAME and AUTHORITY_URL belong together: set both, or neither.',
    )
  expect(() => settings('<b>', url)).toThrow('AUTHORITY_NAME must be a name of 200 characters at most')
})
