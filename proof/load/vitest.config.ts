import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
// Read where the cluster is set up, and by every worker: a run of the fault tests may go on beside this one.
process.env.FAULTS_DIR ??= '.data/proof'

export default defineConfig({
  root,
  resolve: { alias: { '@': root } },
  test: {
    environment: 'node',
    include: ['proof/load/{bounces,clients,failover,fuzz,histories,inngest,moto,soak,slow-clients,timing}.ts'],
    globalSetup: './testing/global-cluster.ts',
    pool: 'forks',
    // One after the other: what is measured is not to wait for other tests.
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
})
