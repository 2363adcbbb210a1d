import type { Instrumentation } from 'next'

/** Starts in development what the server entry starts in production. */
export async function register() {
  if (process.env.NODE_ENV !== 'development' || process.env.NEXT_RUNTIME !== 'nodejs') return
  const { isContextOpen } = await import('./server/system-context')
  if (isContextOpen()) return
  const [{ openContext }, { startTimer }, { startTracing }] = await Promise.all([
    import('./server/open-context'),
    import('./server/timer'),
    import('./server/watch/tracing'),
  ])
  const ctx = await openContext()
  await startTracing()
  const { served } = await ctx.guard.watch(ctx)
  await served
  startTimer()
}

/** The digest is what the person reads on the page that failed. */
export const onRequestError: Instrumentation.onRequestError = async (error, _request, { routePath }) => {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { logPageError } = await import('./server/watch/page-error')
  logPageError(error, routePath)
}
