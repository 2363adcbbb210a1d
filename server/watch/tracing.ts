import { setTimeout as sleep } from 'node:timers/promises'
import { processState } from '../process-state'
import { getEnv } from '../settings/env'

/** SpanKind.SERVER and SpanStatusCode.ERROR as numbers, because importing them would load the package where tracing is off. */
const [SERVER, ERROR] = [1, 2]

/**
 * Sends spans to OTEL_EXPORTER_OTLP_ENDPOINT; without it nothing is loaded. OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES have their standard meaning. Not registered globally, because Next would add spans with whole URLs.
 */
export async function startTracing(): Promise<void> {
  const { otlpEndpoint } = getEnv()
  if (!otlpEndpoint || processState.tracing) return
  const [{ BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const exporter = new OTLPTraceExporter({ url: `${otlpEndpoint.replace(/\/+$/, '')}/v1/traces` })
  const provider = new TracerProvider({
    resource: resources
      .resourceFromAttributes({ 'service.name': 'user-account-service' })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  processState.tracing = { tracer: provider.getTracer('user-account-service'), stop: () => provider.shutdown() }
}

/** How long the end of the process waits for the collector. */
const MAX_STOP_MS = 2_000

/** Sends the spans that are still buffered. */
export async function stopTracing(): Promise<void> {
  const tracing = processState.tracing
  processState.tracing = undefined
  await Promise.race([tracing?.stop(), sleep(MAX_STOP_MS, undefined, { ref: false })])
}

interface AnsweredRequest {
  requestId: string
  method: string
  operation: string | undefined
  status: number
  code?: string
  ms: number
}

export function traceRequest({ requestId, method, operation, status, code, ms }: AnsweredRequest): void {
  const span = processState.tracing?.tracer.startSpan(operation ?? 'no operation', {
    kind: SERVER,
    startTime: Date.now() - ms,
    attributes: {
      'http.request.method': method,
      'http.response.status_code': status,
      request_id: requestId,
      ...(code && { 'error.type': code }),
    },
  })
  if (status >= 500) span?.setStatus({ code: ERROR })
  span?.end()
}

export async function traced<T>(name: string, attributes: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const span = processState.tracing?.tracer.startSpan(name, { attributes })
  try {
    return await work()
  } catch (error) {
    span?.setStatus({ code: ERROR })
    throw error
  } finally {
    span?.end()
  }
}
