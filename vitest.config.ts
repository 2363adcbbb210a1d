import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** These keep nothing in a module and change none, so that the files share the modules of their worker, which loads them once. */
const SHARED = [
  '{app,contract,domain,proof/models,server/settings}/**/*.test.ts',
  'components/**/!(server-clock).test.ts',
  'cli/!(command).test.ts',
  'proof/checks/!(commits|known-bugs*|plans|written-statements).test.ts',
  'server/http/**/!(client-ip).test.ts',
]
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
      { extends: true, test: { name: 'shared', include: SHARED, isolate: false } },
      {
        extends: true,
        test: { name: 'isolated', include: ['**/*.test.{ts,tsx}'], exclude: [...NO_TESTS, ...SHARED] },
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
