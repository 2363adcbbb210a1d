import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
// Read where the cluster is set up, and by every worker: a run of the fault tests may go on beside this one.
process.env.FAULTS_DIR ??= '.data/inngest-test'

export default defineConfig({
  root,
  resolve: { alias: { '@': root } },
  test: {
    environment: 'node',
    include: ['proof/inngest.ts'],
    globalSetup: './testing/global-cluster.ts',
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
})
