import { processState } from '../process-state'
import { createMetrics, type Metrics } from './metric-definitions'

export function metrics(): Metrics {
  processState.metrics ??= createMetrics()
  return processState.metrics
}

// Cached, because looking up the labels is most of the cost of an observation.
const observers = new Map<string, { observe(seconds: number): void }>()

export function countRequest(operation: string | undefined, code: string, ms: number): void {
  const key = `${operation} ${code}`
  let observer = observers.get(key)
  if (!observer) {
    observer = metrics().requests.labels(operation ?? 'none', code)
    observers.set(key, observer)
  }
  observer.observe(ms / 1000)
}
