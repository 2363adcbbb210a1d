import { builtSuite } from '../../testing/built-suite.ts'

// Read where the cluster is set up, and by every worker: a run of the fault tests may go on beside this one.
process.env.FAULTS_DIR ??= '.data/proof'

export default builtSuite({ include: ['proof/service/{fuzz,inngest}.ts'], maxWorkers: 1, testTimeout: 600_000 })
