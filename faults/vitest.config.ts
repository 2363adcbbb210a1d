import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

export default defineConfig({
  root,
  resolve: { alias: { '@': root } },
  test: {
    environment: 'node',
    include: ['faults/*.spec.ts'],
    globalSetup: './faults/global.ts',
    pool: 'forks',
    // The tests wait most of the time: for leases, back-offs and servers that are away.
    maxWorkers: 4,
    sequence: { concurrent: true },
    maxConcurrency: 3,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
})
