import { expect, test } from 'vitest'
import { createClient } from './client'
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
