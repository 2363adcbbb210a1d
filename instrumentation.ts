export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const [{ startTimer }, { startTracing }] = await Promise.all([import('./server/timer'), import('./server/tracing')])
  await startTracing()
  startTimer()
}
