import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventType } from '@/contract/vocabulary'
import { sessionCredential } from '@/domain/access/authenticate'
import { findCaller } from '@/domain/access/caller'
import { startSession } from '@/domain/access/sessions'
import { createUser } from '@/domain/access/user'
import { registerApp, setApp } from '@/domain/applications/manage'
import type { Context, SystemContext } from '@/domain/context'
import { changeEmail } from '@/domain/email/change-email'
import { verifyEmail } from '@/domain/email/verify-email'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { openFreshContext } from './fresh-context'

/**
 * `npm run bench:apps [-- rounds]`, on a fresh database: what applications cost the calls of people. Rounds with and without them
 * alternate in one run, and the ratio of their medians is printed. Mail and the password check are stubs, because beside them the rest
 * would be hard to see.
 */
const ROUNDS = Number(process.argv[2] ?? 12)
const CALLS = 25
const PASSWORD = 'correct horse battery'

const { ctx: opened, close } = await openFreshContext('apps', { EMAIL_CHANGE_LIMIT: '1000' })
const codes = new Map<string, string>()
const ctx: SystemContext = {
  ...opened,
  mail: {
    async send({ to, message }) {
      if (message.template === 'verify-new-email') codes.set(to, message.code)
      return 'accepted'
    },
    async deleteMessages() {},
  },
  passwords: { ...opened.passwords, verify: async () => true },
}
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
let people = 0
try {
  await measure('withdraw', 20, ['account.withdrawal_started', 'account.withdrawal_completed'], withdrawOne)
  await measure('change and verify', 1, ['account.email_change_requested', 'account.email_changed'], changeOne)
} finally {
  receiver.closeAllConnections()
  receiver.close()
  await close()
}
process.exit(0)

/** Prepares a person and returns the calls whose time counts. */
type Prepare = () => Promise<(() => Promise<unknown>)[]>

async function measure(what: string, applications: number, events: EventType[], prepare: Prepare) {
  const apps: string[] = []
  for (let n = 0; n < applications; n++) {
    const { appId } = await registerApp(ctx, { name: `App ${n}`, endpoint, events })
    apps.push(appId)
  }
  const took = { with: [] as number[], without: [] as number[] }
  // The first round only warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const side of round % 2 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      // Nobody is connected to them.
      for (const appId of apps) await setApp(ctx, { appId, audience: side === 'with' ? 'everyone' : 'connected' })
      const calls = await Promise.all(Array.from({ length: CALLS }, prepare))
      await untilDelivered()
      for (const ofPerson of calls) {
        let tookMs = 0
        for (const call of ofPerson) {
          const begun = performance.now()
          await call()
          tookMs += performance.now() - begun
          await untilDelivered()
        }
        if (round > 0) took[side].push(tookMs)
      }
    }
  }
  for (const appId of apps) await setApp(ctx, { appId, disabled: true })
  const [withMs, withoutMs] = [median(took.with), median(took.without)]
  const figures = { applications, calls: took.with.length, withMs: round2(withMs), withoutMs: round2(withoutMs) }
  process.stdout.write(`${what}: ${JSON.stringify({ ...figures, ratio: round2(withMs / withoutMs) })}\n`)
}

async function givenCaller(): Promise<{ caller: Context; email: string }> {
  const email = `person.${people++}@example.test`
  const userId = await createUser(ctx, { email, password: PASSWORD, name: 'Ada', emailVerified: true })
  const client = { userAgent: 'bench', ip: '192.0.2.1', authenticatedAt: ctx.clock.now() }
  const sessionId = await startSession(ctx, { userId, credentialVersion: 0, ...client })
  const actor = await findCaller(ctx, sessionCredential(String(sessionId)))
  if (!actor) throw new Error('no session for this person')
  return { caller: { ...ctx, actor, ip: '192.0.2.1', buckets: [] }, email }
}

async function withdrawOne() {
  const { caller } = await givenCaller()
  return [() => withdrawAccount(caller, { userId: caller.actor.userId, confirmation: 'DELETE_MY_ACCOUNT' })]
}

async function changeOne() {
  const { caller, email } = await givenCaller()
  const { userId } = caller.actor
  const newEmail = `new.${email}`
  let changeId = ''
  return [
    async () => {
      const change = { new_email: newEmail, current_password: PASSWORD, verification_method: 'email_code' } as const
      changeId = (await changeEmail(caller, { userId, ...change })).change_request_id
    },
    () => verifyEmail(caller, { userId, change_request_id: changeId, verification_code: codes.get(newEmail) ?? '' }),
  ]
}

/** What is sent after a call must not hold up the next one; where nothing is sent, the next one waits as long. */
async function untilDelivered() {
  do await sleep(20)
  while ((await ctx.db.eventDelivery.count({ where: { dueAt: { not: null } } })) > 0)
}

function median(times: number[]): number {
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length / 2)] ?? 0
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
