import { defineConfig } from '@playwright/test'
import main from '../../playwright.config'
import { DATA_DIR, HOSTS, SERVICE_URL } from './hosts'

/** One instance, for the pages of every host. The seven days of a withdrawal pass in twelve seconds. */
export default defineConfig({
  ...main,
  testDir: '.',
  testMatch: 'journeys.ts',
  workers: 1,
  timeout: 240_000,
  webServer: {
    command: 'node scripts/start.mjs',
    cwd: process.cwd(),
    url: `${SERVICE_URL}/sign-in`,
    env: {
      PORT: new URL(SERVICE_URL).port,
      DATA_DIR,
      WITHDRAWAL_TIME_SCALE: '0.00002',
      ALLOWED_ORIGINS: Object.values(HOSTS)
        .map(({ url }) => url)
        .join(),
    },
    stdout: 'ignore',
    timeout: 120_000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 15_000 },
  },
})
