import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { alias: { '@': fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '') } },
  test: {
    environment: 'node',
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['e2e/**', '**/node_modules/**', '**/.next/**', 'dist/**', '.data/**'],
    globalSetup: './vitest.global.ts',
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
