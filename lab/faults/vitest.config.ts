import { builtSuite } from '../../testing/built-suite.ts'

process.env.FAULTS_DIR ??= '.data/lab'

export default builtSuite({
  include: ['lab/faults/*.spec.ts'],
  // The tests wait most of the time: for leases, back-offs and servers that are away.
  maxWorkers: 4,
  sequence: { concurrent: true },
  maxConcurrency: 3,
})
