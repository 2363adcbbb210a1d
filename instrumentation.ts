/** Starts what the server entry starts, where Next runs without it. */
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { isContextOpen } = await import('./server/context')
  if (isContextOpen()) return
  const [{ openContext }, { startTimer }, { startTracing }] = await Promise.all([
    import('./server/open-context'),
    import('./server/timer'),
    import('./server/watch/tracing'),
  ])
  await openContext()
  await startTracing()
  startTimer()
}
