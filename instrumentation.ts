export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { startTimer } = await import('./server/timer')
  startTimer()
}
