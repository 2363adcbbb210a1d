import { resolve } from 'node:path'

// Not in the copy of the project that is mutated: a run that is killed leaves no server behind that nobody knows.
process.env.TEST_DATA_DIR = resolve('.data/test')

/** PostgreSQL keeps a plan under the first argument of `statement`; any other name does the same. */
const statementNames = {
  kind: 'Ignore',
  name: 'statement-names',
  value: {
    shouldIgnore: ({ node, parent, key }) =>
      parent?.type === 'CallExpression' &&
      parent.callee.name === 'statement' &&
      key === 0 &&
      node.type === 'StringLiteral'
        ? 'the name of a prepared statement'
        : undefined,
  },
}
export const strykerPlugins = [statementNames]

export default {
  mutate: [
    'contract/address.ts',
    'server/log.ts',
    'server/secrets.ts',
    'domain/encryption.ts',
    'domain/rate-limit.ts',
    'domain/email/*.ts',
    'domain/withdrawal/{schedule,run-deletion-step,status-token,withdraw-account}.ts',
    '!**/*.test.ts',
  ],
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', import.meta.url],
  vitest: { pool: 'threads' },
  ignorers: ['statement-names'],
  // Judges are the tests that stand beside the code. (With `testFiles` Stryker activates static mutants too late to matter.)
  ignorePatterns: [
    ...['.data', '.next', 'dist', 'docs', 'bench', 'e2e', 'faults', 'proof'],
    ...['**/*.test.ts', '!contract/address.test.ts', '!domain/**/*.test.ts', '!server/{log,secrets}.test.ts'],
  ],
  // Stryker would rewrite paths in it with the API that TypeScript 7 no longer has; there are none to rewrite.
  tsconfigFile: 'none',
  tempDirName: '.data/mutation',
  concurrency: 2,
  // Of a machine that does other things as well: a slow answer is no endless loop.
  timeoutMS: 30_000,
  reporters: ['clear-text', 'html', 'json'],
  htmlReporter: { fileName: '.data/mutation.html' },
  jsonReporter: { fileName: '.data/mutation.json' },
  clearTextReporter: { logTests: false, allowColor: false },
  thresholds: { high: 90, low: 80, break: 80 },
}
