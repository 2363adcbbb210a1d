import { expect, test } from 'vitest'
import { findUser, getUser } from './admin'
import { createClient, createServiceClient } from './client'
import type { Answer, Contract } from './define'
import { getEmailStatus } from './email'
import { getWithdrawalStatus } from './withdrawal'

const clientFor = (response: Response | Error) =>
  createClient({
    accessToken: () => 'uat_x',
    fetch: async () => {
      if (response instanceof Error) throw response
      return response
    },
  })
const answering = (response: Response | Error) => clientFor(response)(getEmailStatus, { userId: 'usr_x' })
const statusFrom = (data: unknown): Promise<Answer<typeof getWithdrawalStatus>> =>
  clientFor(Response.json({ success: true, data }))(getWithdrawalStatus, { userId: 'usr_x', withdrawalId: 'wd_x' })
const example = structuredClone(getWithdrawalStatus.example.data) as Record<string, unknown> & {
  deletion_steps: Record<string, unknown>[]
}

test('a missing answer and a truncated answer are refused alike, because the call may have had its effect', async () => {
  for (const lost of [new TypeError('fetch failed'), new Response('{"success":true,"data":{')]) {
    await expect(answering(lost)).rejects.toMatchObject({ name: 'ApiError', code: 'SERVER_002', status: 0 })
  }
})

test('an error page of a proxy keeps its status, and a Retry-After date is ignored', async () => {
  const page = new Response('<h1>Bad gateway</h1>', {
    status: 502,
    headers: { 'Retry-After': 'Fri, 20 Nov 2026 09:00:00 GMT' },
  })
  await expect(answering(page)).rejects.toMatchObject({ code: 'SERVER_002', status: 502, retryAfterSeconds: undefined })
})

test('enum values and members of a newer server are accepted', async () => {
  const steps = [{ step: 'face_recognition', status: 'paused', reason: 'holiday' }, ...example.deletion_steps]
  const newer = { ...example, status: 'suspended', deletion_steps: steps }
  expect(await statusFrom(newer)).toEqual(newer)
  // The server's own schema stays strict.
  const schema: Contract['data'] = getWithdrawalStatus.data
  expect(schema.safeParse(newer).success).toBe(false)
  expect(schema.safeParse(example).success).toBe(true)
})

test('an answer with a missing member, another type or a malformed time is an error, even beside an unknown enum value', async () => {
  const { scheduled_completion: _, ...without } = example
  const wrong = [
    without,
    { ...example, status: 7 },
    { ...example, status: null },
    { ...example, status: 'suspended', scheduled_completion: 'soon' },
    { ...example, deletion_steps: [{ status: 'pending' }] },
    { ...example, deletion_steps: 'none' },
    null,
  ]
  for (const data of wrong) await expect(statusFrom(data)).rejects.toMatchObject({ issues: expect.any(Array) })
})

test('an unknown error code keeps its text, its message and its status', async () => {
  const error = { code: 'EMAIL_099', message: 'Too early', details: 'Come back tomorrow.' }
  const refused = Response.json({ success: false, error }, { status: 425, headers: { 'Retry-After': '60' } })
  await expect(answering(refused)).rejects.toMatchObject({
    name: 'ApiError',
    ...error,
    status: 425,
    retryAfterSeconds: 60,
  })
})

test('a refusal lists what holds a withdrawal back, and any other refusal lists nothing', async () => {
  const blockers = [{ code: 'unpaid_invoice', title: 'Invoice 4711', url: null, source: 'billing' }]
  const refused = (error: object) => answering(Response.json({ success: false, error }, { status: 409 }))
  const error = { code: 'WITHDRAWAL_003', message: 'Not allowed', details: '1 blocker.' }
  await expect(refused({ ...error, blockers })).rejects.toMatchObject({ code: 'WITHDRAWAL_003', blockers })
  const authority = { name: 'Data Protection Commission', url: 'https://authority.test/' }
  await expect(refused({ ...error, blockers, authority })).rejects.toMatchObject({ blockers, authority })
  await expect(refused(error)).rejects.toMatchObject({ code: 'WITHDRAWAL_003', blockers: [], authority: undefined })
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
