import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'

test('every TypeScript file of ours that a script or an experiment imports loads under Node without a bundler', async () => {
  const found = new Set<string>()
  for await (const file of glob([
    'scripts/*.ts',
    'lab/{bench,bounces,chart,clients,engines,hosts,image,mutation}/*.ts',
  ])) {
    if (/\.(?:spec|test)\.ts$/.test(file)) continue
    const imports = readFileSync(file, 'utf8').matchAll(/from '(\.[^']*\/server\/[^']+\.ts)'/g)
    for (const [, name = ''] of imports) found.add(path.resolve(path.dirname(file), name))
  }
  expect(found.size).toBeGreaterThan(2)
  const program = [...found].map((file) => `await import(${JSON.stringify(file)})`).join('\n')
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })
})
