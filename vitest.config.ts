import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: {
      '@': fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, ''),
      'use-intl/format-message': 'use-intl/format-message/format-only',
    },
  },
  test: {
    environment: 'node',
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['e2e/**', '**/node_modules/**', '**/.next/**', 'dist/**', '.data/**'],
    // Else the alias would not reach it.
    server: { deps: { inline: ['use-intl'] } },
    globalSetup: './vitest.global.ts',
    pool: 'forks',
    // At least three workers, because a worker waits for commits half of the time.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
