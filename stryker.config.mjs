import { resolve } from 'node:path'

/** What is changed, and the tests beside it that have to notice. (With `testFiles` Stryker activates static mutants too late.) */
export const AREAS = {
  addresses: { mutate: ['contract/address.ts'], tests: ['contract/address.test.ts'] },
  secrets: {
    mutate: ['server/watch/log.ts', 'server/adapters/secrets.ts', 'domain/encryption.ts'],
    tests: ['server/watch/log.test.ts', 'server/adapters/secrets.test.ts', 'domain/encryption.test.ts'],
  },
  limits: {
    mutate: ['domain/limits/buckets.ts'],
    tests: ['domain/limits/buckets.test.ts', 'domain/email/change-email.test.ts'],
  },
  email: { mutate: ['domain/email/*.ts', '!**/*.test.ts'], tests: ['domain/email/*.test.ts'] },
  withdrawal: {
    mutate: ['domain/withdrawal/{schedule,run-deletion-step,status-token,withdraw-account}.ts'],
    tests: ['domain/withdrawal/{schedule,run-deletion-step,status-token,withdraw-account,erasure-ledger}.test.ts'],
  },
}

/** PostgreSQL keeps a plan under the first argument of these; any other name does the same. */
const statementNames = {
  kind: 'Ignore',
  name: 'statement-names',
  value: {
    shouldIgnore: ({ node, parent, key }) =>
      parent?.type === 'CallExpression' &&
      /^(statement|callerStatement)$/.test(parent.callee.name) &&
      key === 0 &&
      node.type === 'StringLiteral'
        ? 'the name of a prepared statement'
        : undefined,
  },
}
export const strykerPlugins = [statementNames]

const area = process.env.MUTATION_AREA ?? 'addresses'
const { mutate, tests } = AREAS[area]

// Not in the copy of the project that is mutated: a run that is killed leaves no server behind that nobody knows.
process.env.TEST_DATA_DIR = resolve('.data/test')

export default {
  mutate,
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', import.meta.url],
  vitest: { pool: 'threads' },
  ignorers: ['statement-names'],
  ignorePatterns: [
    ...['.data', '.next', 'dist', 'docs', 'bench', 'e2e', 'faults', 'proof', '**/*.test.ts'],
    ...tests.map((path) => `!${path}`),
  ],
  // Stryker would rewrite paths in it with the API that TypeScript 7 no longer has; there are none to rewrite.
  tsconfigFile: 'none',
  tempDirName: '.data/mutation',
  concurrency: 2,
  // Of a machine that does other things as well: a slow answer is no endless loop.
  timeoutMS: 30_000,
  warnings: { slow: false },
  reporters: ['clear-text', 'html', 'json'],
  htmlReporter: { fileName: `.data/mutation-${area}.html` },
  jsonReporter: { fileName: `.data/mutation-${area}.json` },
  clearTextReporter: { logTests: false, allowColor: false },
  thresholds: { high: 90, low: 80, break: 80 },
}
