import { builtSuite } from '../testing/built-suite.ts'

export default builtSuite({
  include: ['faults/*.spec.ts'],
  // The tests wait most of the time: for leases, back-offs and servers that are away.
  maxWorkers: 3,
  sequence: { concurrent: true },
  maxConcurrency: 3,
})
