import { expect, type TestContext, test } from 'vitest'
import { expectPurged } from '@/testing/completed-withdrawal'
import type { Instance } from '@/testing/instance'
import {
  changeEmail,
  emailStatus,
  givenPerson,
  givenPlainPerson,
  mailedCode,
  resendVerification,
  signIn,
  verifyEmail,
  withdraw,
  withdrawalStatus,
} from '@/testing/person'
import { until } from '@/testing/until'
import { signatureOf } from '@/testing/webhook'
import { givenWorld, KEYS, untilNothingWaitsToBeSent, type World } from '@/testing/world'

const NEW = { AUTH_SECRET: 'auth-secret-of-next-year', CODE_SECRET: 'code-secret-of-next-year' }
const BOTH = {
  AUTH_SECRET: `${NEW.AUTH_SECRET},${KEYS.AUTH_SECRET}`,
  CODE_SECRET: `${NEW.CODE_SECRET},${KEYS.CODE_SECRET}`,
}
// The confirmation of a withdrawal may wait 26 s, and so does the last step.
const SLOW = { WITHDRAWAL_TIME_SCALE: '0.0003', WITHDRAWAL_RETENTION: 'P1DT14H', EMAIL_RESEND_COOLDOWN: 'PT0.001S' }
const RETRY = { 'Idempotency-Key': 'one-withdrawal' }

/** A mailed code, a sign-in, and a withdrawal with a waiting confirmation and an open task: all of them made with the first keys. */
async function givenFlights(context: Pick<TestContext, 'onTestFinished'>) {
  const world = await givenWorld(context, SLOW)
  const shop = await world.givenApplication('shop')
  const named = ['--name', 'shop', '--endpoint', shop.url]
  const { signing_secret: signingSecret = '' } = await world.operator.run('app', 'register', ...named)
  const first = await world.start()
  const changing = await givenPlainPerson(world)
  expect((await changeEmail(first, changing)).status).toBe(200)
  const signedIn = await givenPlainPerson(world)
  const cookie = await signIn(first, signedIn)
  const pageToken = await tokenOfPage(first, cookie)
  const withdrawn = await givenPerson(world, first)
  await untilNothingWaitsToBeSent(world)
  await world.mail.goAway()
  const accepted = await withdraw(first, withdrawn, RETRY)
  expect(accepted.status).toBe(202)
  const { withdrawal_id: withdrawalId, status_token: statusToken } = accepted.body.data
  await until('the confirmation was tried', async () => ((await confirmation(world))?.attempts ?? 0) > 0)
  expect(await first.stop()).toBe(0)
  const made = { changing, signedIn, cookie, pageToken, withdrawn, accepted, withdrawalId, statusToken }
  return { world, shop, signingSecret, ...made }
}

test('F25 a rotation of the keys breaks no change, sign-in, withdrawal or signed call in flight', async (context) => {
  const { world, shop, changing, signedIn, cookie, pageToken, withdrawn, accepted, ...flight } =
    await givenFlights(context)
  const { withdrawalId, statusToken, signingSecret } = flight
  const instance = await world.start(BOTH)
  expect((await withdraw(instance, withdrawn, RETRY)).body).toEqual(accepted.body)
  expect((await withdrawalStatus(instance, { ...withdrawn, token: statusToken }, withdrawalId)).status).toBe(200)

  expect((await verifyEmail(instance, changing, mailedCode(world, changing))).status).toBe(200)
  expect((await emailStatus(instance, { ...signedIn, token: pageToken })).status).toBe(200)
  expect(await settingsPage(instance, cookie)).toContain(signedIn.email)
  const newToken = await tokenOfPage(instance, cookie)
  expect((await emailStatus(instance, { ...signedIn, token: newToken })).status).toBe(200)
  expect(newToken.split('.')[2]).not.toBe(pageToken.split('.')[2])

  await world.mail.startAgain()
  const mails = await until('the confirmation arrives', () => {
    const sent = world.mail.to(withdrawn.email).filter(({ text }) => text.includes('wst_'))
    return sent.length > 0 ? sent : null
  })
  const [linked = ''] = /wst_[\w-]{43}/.exec(mails[0]?.text ?? '') ?? []
  expect(linked).not.toBe(statusToken)
  expect((await withdrawalStatus(instance, { ...withdrawn, token: linked }, withdrawalId)).status).toBe(200)
  await expectPurged(world, { person: withdrawn, withdrawalId })
  const [request] = shop.received
  if (!request) throw new Error('the shop was not told')
  expect(request.headers['webhook-signature']).toBe(signatureOf(request, signingSecret))
})

test('F25 F63 old keys that are removed too early refuse the start, then calls without a 5xx, and everything completes once they are back', async (context) => {
  const { world, shop, changing, signedIn, cookie, pageToken, withdrawn, withdrawalId, statusToken } =
    await givenFlights(context)
  const refusal = await world.start({ ...NEW, ACCEPT_NEW_SECRET: '1' }).catch(({ message }) => String(message))
  expect(refusal).toContain('CODE_SECRET is not the secret of this database')
  const [, accepted = ''] = /ACCEPT_NEW_SECRET=([\w-]+)/.exec(String(refusal)) ?? []
  const instance = await world.start({ ...NEW, ACCEPT_NEW_SECRET: accepted })
  const wrong = await verifyEmail(instance, changing, mailedCode(world, changing))
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'EMAIL_003'])
  const oldToken = await emailStatus(instance, { ...signedIn, token: pageToken })
  expect([oldToken.status, oldToken.body.error.code]).toEqual([401, 'AUTH_001'])
  expect(await settingsPage(instance, cookie)).toBeNull()
  expect(await tokenOfPage(instance, cookie)).toBe('')
  const oldLink = await withdrawalStatus(instance, { ...withdrawn, token: statusToken }, withdrawalId)
  expect([oldLink.status, oldLink.body.error.code]).toEqual([401, 'AUTH_001'])
  expect((await withdraw(instance, withdrawn, RETRY)).status).toBe(422)

  // Access tokens and passwords still work, because no key is part of their hashes.
  expect((await emailStatus(instance, signedIn)).status).toBe(200)
  expect((await withdrawalStatus(instance, withdrawn, withdrawalId)).status).toBe(200)
  expect(await settingsPage(instance, await signIn(instance, signedIn))).toContain(signedIn.email)
  await world.mail.startAgain()
  expect((await resendVerification(instance, changing, mailedCode(world, changing).request)).status).toBe(200)
  expect((await verifyEmail(instance, changing, mailedCode(world, changing))).status).toBe(200)

  // On a slow machine its row has gone with the last step.
  await until('the confirmation that cannot be opened has ended', async () => {
    const notice = await confirmation(world)
    return !notice || (notice.failed_at && !notice.sealed)
  })
  await until('the call that cannot be signed has failed', async () => {
    const rows = await world.query(`SELECT FROM deletion_steps WHERE last_error IS NOT NULL AND completed_at IS NULL`)
    return rows.length > 0
  })
  expect(shop.received).toEqual([])
  expect(await instance.stop()).toBe(0)
  expect(instance.output).not.toMatch(/"status":5\d\d/)

  await world.start(BOTH)
  await expectPurged(world, { person: withdrawn, withdrawalId })
})

async function confirmation(world: World) {
  const [notice] = await world.query<{ attempts: number; failed_at: Date | null; sealed: Buffer | null }>(
    `SELECT attempts, failed_at, sealed FROM notices WHERE kind = 'account_withdrawal_started'`,
  )
  return notice
}

/** The bearer token that a page with this cookie gets; empty where the cookie is worth nothing. */
async function tokenOfPage(instance: Instance, cookie: string): Promise<string> {
  const response = await fetch(`${instance.url}/api/auth/session`, { headers: { Cookie: cookie } })
  expect(response.status).toBe(200)
  const { accessToken = '' } = (await response.json()) as { accessToken?: string }
  return accessToken
}

/** Null if the page redirects to the sign-in. */
async function settingsPage(instance: Instance, cookie: string): Promise<string | null> {
  const response = await fetch(`${instance.url}/settings/email`, { headers: { Cookie: cookie }, redirect: 'manual' })
  if (response.status !== 307) return response.text()
  expect(response.headers.get('Location')).toContain('/sign-in')
  return null
}
