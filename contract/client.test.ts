import { expect, test } from 'vitest'
import { findUser, getUser } from './admin'
import { createClient, createServiceClient } from './client'
import { getEmailStatus } from './email'

const answering = (response: Response | Error) =>
  createClient({
    accessToken: () => 'uat_x',
    fetch: async () => {
      if (response instanceof Error) throw response
      return response
    },
  })(getEmailStatus, { userId: 'usr_x' })

test('no answer, and one that is cut on its way, are refused alike: nobody knows what became of the call', async () => {
  for (const lost of [new TypeError('fetch failed'), new Response('{"success":true,"data":{')]) {
    await expect(answering(lost)).rejects.toMatchObject({ name: 'ApiError', code: 'SERVER_002', status: 0 })
  }
})

test('what a proxy answers keeps its status, and a wait that is told as a date is none', async () => {
  const page = new Response('<h1>Bad gateway</h1>', {
    status: 502,
    headers: { 'Retry-After': 'Fri, 20 Nov 2026 09:00:00 GMT' },
  })
  await expect(answering(page)).rejects.toMatchObject({ code: 'SERVER_002', status: 502, retryAfterSeconds: undefined })
})

test('a service client fills path and query, and sends the service token and the scope of the operation', async () => {
  const sent: [url: string, init: RequestInit | undefined][] = []
  const call = createServiceClient({
    baseUrl: 'https://accounts.test',
    serviceToken: 'svc_x',
    fetch: async (url, init) => {
      sent.push([String(url), init])
      return Response.json({ success: true, data: getUser.example.data })
    },
  })
  expect(await call(getUser, { externalId: 'a/b ~%' })).toEqual(getUser.example.data)
  await call(findUser, { email: 'ada+1@example.com' })
  expect(sent.map(([url]) => url)).toEqual([
    'https://accounts.test/api/v1/admin/users/a%2Fb%20~%25',
    'https://accounts.test/api/v1/admin/users?email=ada%2B1%40example.com',
  ])
  expect(sent[0]?.[1]).toMatchObject({
    method: 'GET',
    headers: { Authorization: 'Bearer svc_x', 'X-Required-Scope': 'users:read' },
  })
})
