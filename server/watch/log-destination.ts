import pino, { type DestinationStream } from 'pino'

/** The buffer for lines that standard output does not take. Lines beyond it are dropped and counted. */
const MAX_WAITING_BYTES = 1024 * 1024

/** Standard output for the log. It never makes a request wait or fail, and its memory is bounded. */
export function standardOutput(onLost: (lines: number) => void): DestinationStream {
  let isExiting = false
  // Registered before pino's own exit handler, which would wait for a blocked reader and retry a full volume for ever.
  process.once('exit', () => {
    isExiting = true
  })
  const destination = pino.destination({ sync: false, maxLength: MAX_WAITING_BYTES, retryEAGAIN: () => !isExiting })
  let isFailing = false
  let lost = 0
  destination.on('error', () => {
    isFailing = true
  })
  destination.on('write', () => {
    isFailing = false
  })
  destination.on('drop', () => lost++)
  destination.on('drain', () => {
    const lines = lost
    lost = 0
    if (lines > 0) onLost(lines)
  })
  const flush = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    try {
      if (!isFailing) flush()
    } catch {}
  }
  return destination
}
