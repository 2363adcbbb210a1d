import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AUDIT_ENGINES } from './audit-engines'

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

test('the accessibility page names the engines that audit the pages', () => {
  const axe = read('package-lock.json').packages['node_modules/axe-core'].version
  const ibm = read('lab/accessibility/package.json').dependencies['accessibility-checker-engine']
  expect(AUDIT_ENGINES).toEqual([`axe-core ${axe}`, `IBM Equal Access ${ibm}`])
})
