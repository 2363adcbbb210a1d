import { builtSuite } from '../testing/built-suite.ts'

// Read where the cluster is set up, and by every worker: a run of `npm test` may go on beside this one.
process.env.FAULTS_DIR ??= '.data/lab'

export default builtSuite({
  include: ['lab/**/*.spec.ts'],
  // One after the other: what is measured is not to wait for other tests.
  maxWorkers: 1,
  fileParallelism: false,
  testTimeout: 600_000,
})
