import { readFileSync } from 'node:fs'
import { expect, type Page } from '@playwright/test'

/** Findings of the engine that are no faults, each with the reason. */
const NO_FAULTS: Record<string, string> = {
  'aria_form_label_unique/fail_label_not_unique':
    'A form without a name is no landmark, so that two of them need no names.',
  'text_contrast_sufficient/fail_contrast':
    'It reads no oklch() and takes such a background for white. axe judges the contrast.',
}

interface Result {
  ruleId: string
  reasonId: string
  value: [kind: string, outcome: string]
  message: string
  path: { dom: string }
}

/** The engine also judges folded elements, which are not rendered. A path ends where it enters a shadow root. */
const JUDGE = `new ace.Checker().check(document, ['WCAG_2_2']).then(({ numExecuted, results }) => {
  const at = (path) => document.evaluate(path.split('/#')[0], document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue
  return { numExecuted, results: results.filter(({ path }) => at(path.dom)?.checkVisibility() ?? true) }
})`

/** The faults that IBM's engine finds on the page; `engine` is its script. A finding that needs the judgement of a person is no fault. */
export async function findAccessibilityFaults(page: Page, engine: string): Promise<string[]> {
  await page.evaluate(readFileSync(engine, 'utf8'))
  const { numExecuted, results } = await page.evaluate<{ numExecuted: number; results: Result[] }>(JUDGE)
  expect(numExecuted).toBeGreaterThan(0)
  return results
    .filter(({ value }) => value.join() === 'VIOLATION,FAIL')
    .filter(({ ruleId, reasonId }) => !(`${ruleId}/${reasonId}` in NO_FAULTS))
    .map(({ ruleId, reasonId, message, path }) => `${ruleId}/${reasonId} ${message} ${path.dom}`)
}
