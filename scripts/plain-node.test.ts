import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'

test('every TypeScript file that a script or a benchmark imports loads under Node without a bundler', async () => {
  const found = new Set<string>()
  for await (const file of glob(['scripts/*.mjs', 'bench/*.ts'])) {
    const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.\.\/[^']+\.ts)'/g)
    for (const [, name = ''] of imports) found.add(path.resolve(path.dirname(file), name))
  }
  expect(found.size).toBeGreaterThan(2)
  const program = [...found].map((file) => `await import(${JSON.stringify(file)})`).join('\n')
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })
})
