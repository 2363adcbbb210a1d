import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

export default defineConfig({
  root,
  resolve: { alias: { '@': root } },
  test: {
    environment: 'node',
    // Every `npm test` runs what needs neither an own PostgreSQL nor long waits.
    include: [process.env.SHORT ? 'faults/{production,start,kill,events,mail,import}.spec.ts' : 'faults/*.spec.ts'],
    globalSetup: './testing/global-cluster.ts',
    pool: 'forks',
    // The tests wait most of the time: for leases, back-offs and servers that are away.
    maxWorkers: process.env.SHORT ? 3 : 4,
    sequence: { concurrent: true },
    maxConcurrency: 3,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
})
