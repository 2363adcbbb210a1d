import { fileURLToPath } from 'node:url'
import { defineConfig, type TestUserConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

/** Tests of the built service, with a PostgreSQL that lasts as long as the run. */
export const builtSuite = (test: TestUserConfig) =>
  defineConfig({
    root,
    resolve: { alias: { '@': root, 'server-only': `${root}/node_modules/server-only/empty.js` } },
    test: {
      environment: 'node',
      globalSetup: './testing/global-cluster.ts',
      pool: 'forks',
      testTimeout: 300_000,
      hookTimeout: 120_000,
      ...test,
    },
  })
