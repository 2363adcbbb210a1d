import type { AuditRecord } from '@/domain/ports'

const MAX_WAIT_MS = 5_000
/** SeverityNumber.INFO of OpenTelemetry. */
const INFO = 9

type Attribute = { key: string; value: { stringValue: string } }
const attributes = (of: Record<string, unknown>): Attribute[] =>
  Object.entries(of).flatMap(([key, value]) =>
    typeof value === 'string' ? [{ key, value: { stringValue: value } }] : [],
  )

/** `name=value,…` with percent-encoded values, as the standard variables have it. */
const listOf = (text = ''): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const [, name, value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      return name ? [[name, decodeURIComponent(value)]] : []
    }),
  )

/**
 * Sends rows of the audit to a collector as log records, in the JSON form of OTLP. Throws if it did not take them. The exporter of
 * OpenTelemetry would bring its own queue, which loses what a process held when it died.
 */
export const createAuditCollector = (endpoint: string, env: NodeJS.ProcessEnv = process.env) => {
  const resource = {
    'service.name': env.OTEL_SERVICE_NAME || 'user-account-service',
    ...listOf(env.OTEL_RESOURCE_ATTRIBUTES),
  }
  return async (records: AuditRecord[]): Promise<void> => {
    const logRecords = records.map(({ at, ...record }) => ({
      timeUnixNano: `${Date.parse(at)}000000`,
      severityNumber: INFO,
      severityText: 'INFO',
      eventName: record.event,
      body: { stringValue: record.event },
      attributes: attributes(record),
    }))
    const scopeLogs = [{ scope: { name: 'audit' }, logRecords }]
    const answer = await fetch(`${endpoint.replace(/\/+$/, '')}/v1/logs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...listOf(env.OTEL_EXPORTER_OTLP_HEADERS) },
      body: JSON.stringify({ resourceLogs: [{ resource: { attributes: attributes(resource) }, scopeLogs }] }),
      redirect: 'error',
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`the collector answered ${answer.status}`)
  }
}
