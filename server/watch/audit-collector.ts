import type { AuditRecord } from '@/domain/ports'

const MAX_WAIT_MS = 5_000
/** SeverityNumber.INFO of OpenTelemetry. */
const INFO = 9

type Attribute = { key: string; value: { stringValue: string } }
const attributes = (of: Record<string, unknown>): Attribute[] =>
  Object.entries(of).flatMap(([key, value]) =>
    typeof value === 'string' ? [{ key, value: { stringValue: value } }] : [],
  )

/**
 * Sends rows of the audit to a collector as log records, in the JSON form of OTLP. Throws if it did not take them. The exporter of
 * OpenTelemetry would bring its own queue, which loses what a process held when it died.
 */
export const createAuditCollector = (
  endpoint: string,
  { otlpHeaders, otlpAttributes }: { otlpHeaders: Record<string, string>; otlpAttributes: Record<string, string> },
) => {
  const resource = { 'service.name': process.env.OTEL_SERVICE_NAME || 'user-account-service', ...otlpAttributes }
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
      headers: { 'Content-Type': 'application/json', ...otlpHeaders },
      body: JSON.stringify({ resourceLogs: [{ resource: { attributes: attributes(resource) }, scopeLogs }] }),
      redirect: 'error',
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`the collector answered ${answer.status}`)
  }
}
