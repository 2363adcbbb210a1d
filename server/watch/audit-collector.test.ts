import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listening } from '@/testing/listening'
import { createAuditCollector } from './audit-collector'

/** A collector that answers with this status, and what it received. */
async function givenCollector(status: number) {
  const received: { path?: string; headers: Record<string, unknown>; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ path: request.url ?? '', headers: request.headers, body })
    response.writeHead(status).end('{}')
  })
  const port = await listening(server)
  onTestFinished(() => void server.close())
  return { endpoint: `http://127.0.0.1:${port}/`, received }
}

const RECORD = { at: '2026-11-20T09:12:00.123Z', event: 'sign_in', account: null, way: 'password', session_id: 'ses_1' }

test('a row of the audit is a log record of OTLP with its time, event and members', async () => {
  const { endpoint, received } = await givenCollector(200)
  const otlpAttributes = { 'service.name': 'accounts' }
  await createAuditCollector(endpoint, { otlpHeaders: { 'api-key': 'a b', x: 'y' }, otlpAttributes })([RECORD])
  expect(received).toMatchObject([
    { path: '/v1/logs', headers: { 'content-type': 'application/json', 'api-key': 'a b', x: 'y' } },
  ])
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', 'accounts')] },
        scopeLogs: [
          {
            scope: { name: 'audit' },
            logRecords: [
              {
                timeUnixNano: '1795165920123000000',
                severityNumber: 9,
                severityText: 'INFO',
                eventName: 'sign_in',
                body: { stringValue: 'sign_in' },
                attributes: [text('event', 'sign_in'), text('way', 'password'), text('session_id', 'ses_1')],
              },
            ],
          },
        ],
      },
    ],
  })
})

test('a collector that refuses is no collector that took the rows', async () => {
  const { endpoint } = await givenCollector(503)
  const send = createAuditCollector(endpoint, { otlpHeaders: {}, otlpAttributes: {} })
  await expect(send([RECORD])).rejects.toThrow('503')
})
