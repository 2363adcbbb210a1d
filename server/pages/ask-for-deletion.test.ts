import { expect, test } from 'vitest'
import { processState } from '@/server/process-state'
import { givenUser } from '@/testing/domain'
import { givenService, mailsTo } from '@/testing/service'
import { askForDeletion } from './ask-for-deletion'

const send = (fields: Record<string, string>, headers: Record<string, string> = {}, ip = '192.0.2.1') =>
  askForDeletion(
    new Request('http://localhost/api/delete-account', {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'Sec-Fetch-Site': 'same-origin', [processState.clientIpHeader]: ip, ...headers },
    }),
  )
const typedIn = (response: Response) => response.headers.get('Set-Cookie')
const placeOf = (response: Response) => response.headers.get('Location')

test('the form without a script gets one answer for every address, and the address is in no URL', async () => {
  const ctx = await givenService()
  const { email } = await givenUser(ctx)
  const answers = await Promise.all([
    send({ email: ` ${email} `, language: 'de' }),
    send({ email: 'nobody@example.test', language: 'de' }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([303, 303])
  expect(new Set(answers.map(placeOf))).toEqual(new Set(['/delete-account?outcome=sent&language=de']))
  expect(typedIn(answers[1])).toBe(
    'deletion-address=bm9ib2R5QGV4YW1wbGUudGVzdA; Path=/; Max-Age=300; HttpOnly; SameSite=Lax',
  )
  await ctx.settle()
  expect(mailsTo(ctx, email, 'withdrawal-requested')).toHaveLength(1)
})

test('what was typed goes back to the form, and not more of it than a cookie takes', async () => {
  await givenService()
  expect(typedIn(await send({ email: 'ada@' }))).toContain('=YWRhQA;')
  expect(typedIn(await send({ email: `a${'😀'.repeat(1_000)}` }))?.length).toBeLessThan(1_000)
})

test('a malformed address, a client that asks too often and a page of another site are told apart', async () => {
  await givenService()
  expect(placeOf(await send({ email: 'nobody' }))).toBe('/delete-account?outcome=incomplete')
  expect(placeOf(await send({ language: 'xx' }))).toBe('/delete-account?outcome=incomplete')
  expect(placeOf(await send({ email: 'a@b.test, c@d.test' }))).toBe('/delete-account?outcome=malformed')
  for (let n = 0; n < 20; n++) await send({ email: `${n}@example.test` }, {}, '192.0.2.9')
  expect(placeOf(await send({ email: 'one@example.test' }, {}, '192.0.2.9'))).toBe('/delete-account?outcome=limited')
  expect((await send({ email: 'one@example.test' }, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect(
    (await send({ email: 'one@example.test' }, { 'Sec-Fetch-Site': '', Origin: 'https://evil.test' })).status,
  ).toBe(403)
})
