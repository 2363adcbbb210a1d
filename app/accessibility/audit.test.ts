import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AUDIT_ENGINE } from './audit'

test('the accessibility page names the engine that audits the pages', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  expect(AUDIT_ENGINE).toBe(`axe-core ${packages['node_modules/axe-core'].version}`)
})
