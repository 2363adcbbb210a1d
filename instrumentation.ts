import type { Instrumentation } from 'next'

/** Starts what the server entry starts, where Next runs without it. */
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { isContextOpen } = await import('./server/system-context')
  if (isContextOpen()) return
  const [{ openContext }, { getEnv }, { startTimer }, oldDatabase, { startTracing }, { log }] = await Promise.all([
    import('./server/open-context'),
    import('./server/settings/env'),
    import('./server/timer'),
    import('./server/watch/hold-back-old-database'),
    import('./server/watch/tracing'),
    import('./server/watch/log'),
  ])
  const ctx = await openContext()
  await startTracing()
  if (await oldDatabase.holdBackOldDatabase(ctx, getEnv())) {
    log().error({ event: 'not_ready', hint: oldDatabase.OLD_DATABASE })
    await oldDatabase.untilReplayed(ctx)
  }
  startTimer()
}

/** The digest is what the person reads on the page that failed. */
export const onRequestError: Instrumentation.onRequestError = async (error, _request, { routePath }) => {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { logPageError } = await import('./server/watch/page-error')
  logPageError(error, routePath)
}
