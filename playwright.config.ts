import { defineConfig, devices } from '@playwright/test'
import { BRAND, writeLogo } from './e2e/brand'
import { BOUNCE_SECRET, DATA_DIR, DEMO_URL, IMPATIENT_URL, RETURN_TO, SERVICE_URL } from './e2e/service-urls'
import { installedBrowser } from './scripts/browser'

const executablePath =
  process.env.CHROMIUM_PATH ?? (process.env.PLAYWRIGHT_USE_BUNDLED ? undefined : installedBrowser())

/**
 * Three instances of the production build on one database and one mailbox: the second has windows of seconds, the third an identity
 * provider, a receiver of bounces and a brand of its own.
 */
const instance = (url: string, settings: Record<string, string>) => ({
  command: process.env.START_COMMAND ?? 'node scripts/start.mjs',
  url: `${url}/sign-in`,
  env: { PORT: new URL(url).port, DATA_DIR, ...settings },
  stdout: 'ignore' as const,
  timeout: 120_000,
  gracefulShutdown: { signal: 'SIGTERM' as const, timeout: 15_000 },
})

export default defineConfig({
  testDir: 'e2e',
  fullyParallel: true,
  // One more than the cores of a small machine, because a test waits for programs and mails now and then.
  workers: 3,
  forbidOnly: Boolean(process.env.CI),
  // A shared machine may stand still for longer than any wait here. What passes only the second time is listed as flaky.
  retries: process.env.CI ? 1 : 0,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: {
    ...devices['Desktop Chrome'],
    baseURL: SERVICE_URL,
    // A trace of every test costs a sixth of the run, so that CI writes one of a second try alone.
    trace: { mode: process.env.CI ? 'on-first-retry' : 'retain-on-failure', screenshots: false },
    video: 'off',
    launchOptions: {
      executablePath,
      // A process for each site costs a tenth of the run.
      args: ['--disable-site-isolation-trials', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    },
  },
  webServer: [
    instance(SERVICE_URL, {}),
    instance(IMPATIENT_URL, {
      EMAIL_CODE_VALIDITY: 'PT6S',
      EMAIL_RESEND_COOLDOWN: 'PT3S',
      WITHDRAWAL_TIME_SCALE: '0.00002',
      // Ten minutes: the final erasure takes away what the pages show of a deletion, and a slow machine looks a minute later.
      WITHDRAWAL_RETENTION: 'P365D',
    }),
    instance(DEMO_URL, {
      DEMO_OIDC: '1',
      RETURN_TO: RETURN_TO.join(),
      MAIL_EVENTS_POSTMARK: BOUNCE_SECRET,
      ...BRAND,
      LOGO_FILE: writeLogo(),
    }),
  ],
})
