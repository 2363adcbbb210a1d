import { resolve } from 'node:path'

/** The files that are mutated, and the tests that must fail for it. (With `testFiles` Stryker activates static mutants too late.) */
export const AREAS: Record<string, { mutate: string[]; tests: string[] }> = {
  addresses: { mutate: ['contract/address.ts'], tests: ['contract/address.test.ts'] },
  secrets: {
    mutate: ['server/watch/log.ts', 'server/adapters/secrets.ts', 'domain/encryption.ts'],
    tests: ['server/watch/log.test.ts', 'server/adapters/secrets.test.ts', 'domain/encryption.test.ts'],
  },
  limits: {
    mutate: ['domain/limits/buckets.ts'],
    tests: ['domain/limits/buckets.test.ts', 'domain/email/change-email.test.ts'],
  },
  email: {
    mutate: [
      ...['domain/email/*.ts', 'domain/pending-change.ts', '!**/*.test.ts'],
      ...['!domain/email/*not-me*.ts', '!domain/email/undo-email-change.ts'],
    ],
    tests: ['domain/email/*.test.ts', 'domain/pending-change.test.ts'],
  },
  undo: {
    mutate: ['domain/email/{undo-email-change,get-not-me,not-me,not-me-token}.ts'],
    tests: ['domain/email/{undo-email-change,not-me,lost-mailbox}.test.ts'],
  },
  withdrawal: {
    mutate: [
      'domain/derived-token.ts',
      'domain/withdrawal/{schedule,run-deletion-step,status-token,withdraw-account,start-withdrawal}.ts',
    ],
    tests: ['domain/withdrawal/{schedule,run-deletion-step,status-token,withdraw-account,blockers}.test.ts'],
  },
  // What each step deletes is data, which the compiler and the tests of export, preview and plan hold.
  erasure: {
    mutate: ['domain/withdrawal/{erase,purge-retained-data}.ts', 'domain/withdrawal/steps/deletion-steps.ts'],
    tests: [
      'domain/withdrawal/{erase,purge-retained-data,deletion-map}.test.ts',
      ...['domain/deletion-counts.test.ts', 'domain/applications/{archives,events}.test.ts'],
    ],
  },
  ledger: {
    mutate: ['domain/withdrawal/ledger/*.ts', 'domain/withdrawal/replay-erasure-ledger.ts', '!**/*.test.ts'],
    tests: ['domain/withdrawal/ledger/*.test.ts', 'domain/withdrawal/replay-gap.test.ts'],
  },
}

/** What is read here of a node of the syntax tree. */
interface Node {
  type: string
  callee?: { name?: string }
  typeAnnotation?: { typeName?: { name?: string } }
}
type Place = { node: Node; parent?: Node; key?: string | number }

const isStatement = (node?: Node) => node?.type === 'CallExpression' && node.callee?.name === 'statement'
/** Any other name of a prepared statement does the same, and written-statements.test.ts asks the database about values and rows. */
const descriptions = {
  kind: 'Ignore',
  name: 'descriptions',
  value: {
    shouldIgnore: ({ node, parent, key }: Place) => {
      if (isStatement(parent) && key === 0) return 'the name of a prepared statement'
      const isShape =
        (isStatement(parent) && (key === 1 || key === 2)) || parent?.typeAnnotation?.typeName?.name === 'Shape'
      return isShape && node.type === 'ObjectExpression' ? 'the description of a statement' : undefined
    },
  },
}
export const strykerPlugins = [descriptions]

const area = process.env.MUTATION_AREA ?? 'addresses'
const { mutate, tests } = AREAS[area] ?? { mutate: [], tests: [] }

// Outside Stryker's copy of the project, so that a killed run leaves no unknown server behind.
process.env.TEST_DATA_DIR = resolve('.data/test')

export default {
  mutate,
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', import.meta.url],
  vitest: { pool: 'threads' },
  ignorers: ['descriptions'],
  ignorePatterns: [
    ...['.data', '.next', 'dist', 'lab', 'e2e', 'faults', 'proof', '**/*.test.ts'],
    ...tests.map((path) => `!${path}`),
  ],
  // Stryker would rewrite its paths with an API that TypeScript 7 no longer has.
  tsconfigFile: 'none',
  tempDirName: '.data/mutation',
  concurrency: 2,
  // Long, because on a busy machine a slow test is not an endless loop.
  timeoutMS: 30_000,
  warnings: { slow: false },
  reporters: ['clear-text', 'html', 'json'],
  htmlReporter: { fileName: `.data/mutation-${area}.html` },
  jsonReporter: { fileName: `.data/mutation-${area}.json` },
  clearTextReporter: { logTests: false, allowColor: false },
  thresholds: { high: 90, low: 80, break: 80 },
}
