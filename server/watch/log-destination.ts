import pino, { type DestinationStream } from 'pino'

/** What waits for a reader that stands still, or for room on a volume; lines beyond it are lost and counted. */
const MAX_WAITING_BYTES = 1024 * 1024

/** However it fares, requests go on: it never makes them wait, fail or run out of memory. */
export function standardOutput(tellLost: (lines: number) => void): DestinationStream {
  let isExiting = false
  // Before the destination's own last attempt: that would wait for a reader that stands still, and try a full volume for ever.
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
    if (lines > 0) tellLost(lines)
  })
  const flush = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    try {
      if (!isFailing) flush()
    } catch {}
  }
  return destination
}
