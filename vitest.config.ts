import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The domain keeps nothing in a module, so that these files share the modules of their worker. A test that mocks a module stands elsewhere. */
const DOMAIN_TESTS = ['components/**/*.test.ts', 'contract/**/*.test.ts', 'domain/**/*.test.ts']
const NO_TESTS = ['e2e/**', '**/node_modules/**', '**/.next/**', 'dist/**', '.data/**']

export default defineConfig({
  resolve: {
    alias: {
      '@': fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, ''),
      'use-intl/format-message': 'use-intl/format-message/format-only',
      // The mark that keeps a file out of browsers; elsewhere its package throws.
      'server-only': fileURLToPath(new URL('node_modules/server-only/empty.js', import.meta.url)),
    },
  },
  test: {
    environment: 'node',
    projects: [
      { extends: true, test: { name: 'domain', include: DOMAIN_TESTS, isolate: false } },
      {
        extends: true,
        test: { name: 'service', include: ['**/*.test.{ts,tsx}'], exclude: [...NO_TESTS, ...DOMAIN_TESTS] },
      },
    ],
    // Else the alias would not reach it.
    server: { deps: { inline: ['use-intl'] } },
    globalSetup: './vitest.global.ts',
    pool: 'forks',
    // At least four workers, because a worker waits for the database and for programs that it starts.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A machine may be busy. `vi.waitFor` has no such setting and gives up after a second.
    expect: { poll: { timeout: 30_000 } },
  },
})
