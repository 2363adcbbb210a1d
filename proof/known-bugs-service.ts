import type { AddressInfo } from 'node:net'
import pino, { type Logger } from 'pino'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { onTestFinished } from 'vitest'
import type { Contract, GrantableScope } from '@/contract/define'
import { operations } from '@/contract/operations'
import { issueAccessToken } from '@/domain/access/access-tokens'
import type { SystemContext } from '@/domain/context'
import type { Limits } from '@/domain/limits'
import { codeSentTo, givenUser, runDueWork, type TestContext, type TestUser, testContext } from '@/domain/testing'
import { api } from '@/server/api'
import { createMailer } from '@/server/mailer'

// The service as its callers see it: requests in, answers out, on the real database. Hashing is not what these tests
// are about, so here it is free, and counted.

export const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
export const VERIFY = 'verify-new-email'

const shared = globalThis as { __accountContext?: SystemContext; __accountLog?: Logger }
shared.__accountLog = pino({ level: 'silent' })

export interface Service extends TestContext {
  /** How many passwords were compared with a hash. */
  compared: number
}

export interface Caller extends TestUser {
  token: string
}

export interface Answer {
  status: number
  /** The error code, or `accepted`. */
  code: string
  data: Record<string, unknown>
  headers: Headers
  text: string
}

export interface Asking {
  body?: unknown
  /** Sent as it is, instead of `body`. */
  raw?: string
  /** Instead of the caller's; null sends none. */
  token?: string | null
  ids?: Record<string, string>
  headers?: Record<string, string>
  origin?: string
  /** The peer. */
  ip?: string
}

export async function givenService(limits: Partial<Limits> = {}): Promise<Service> {
  const ctx: Service = Object.assign(await testContext(limits), { compared: 0 })
  ctx.passwords = {
    hash: async (password) => `hash of ${password}`,
    verify: async (hash, password) => {
      ctx.compared++
      return hash === `hash of ${password}`
    },
  }
  shared.__accountContext = ctx
  onTestFinished(() => ctx.settle())
  return ctx
}

export async function givenToken(
  ctx: Service,
  userId: string,
  scopes: GrantableScope[] = ['email:manage', 'account:manage'],
): Promise<string> {
  const token = { userId, name: 'test', scopes, expiresInMs: 300 * day, actor: 'operator' }
  return (await issueAccessToken(ctx, token)).accessToken
}

export async function givenCaller(ctx: Service, email?: string): Promise<Caller> {
  const user = await givenUser(ctx, email)
  return { ...user, token: await givenToken(ctx, user.userId) }
}

export const OUTSIDE_TOKEN = 'an.outside.token'

/** An outside issuer is configured, and vouches for this caller with one token and no other. */
export function acceptOutsideToken(ctx: Service, { userId }: Caller) {
  const expiresAt = new Date(ctx.clock.now().getTime() + 90 * day)
  ctx.outsideIssuer = {
    verify: async (token) =>
      token === OUTSIDE_TOKEN ? { userId, scopes: ['email:manage', 'account:manage'], expiresAt } : null,
  }
}

const OPERATIONS: Record<string, Contract> = Object.fromEntries(operations.map((contract) => [contract.name, contract]))
/** Well-formed, and of nobody. */
const NOBODYS_IDS = {
  changeRequestId: `ecr_${'A'.repeat(22)}`,
  withdrawalId: `wd_${'A'.repeat(22)}`,
  accessId: `tok_${'A'.repeat(22)}`,
  sessionId: `ses_${'A'.repeat(22)}`,
}

export async function call(caller: Caller, operation: string, asking: Asking = {}): Promise<Answer> {
  const { method, path, scope, example } = OPERATIONS[operation] as Contract
  const ids: Record<string, string> = { ...NOBODYS_IDS, userId: caller.userId, ...asking.ids }
  const headers = new Headers({ 'X-Required-Scope': scope, ...asking.headers })
  const token = asking.token === undefined ? caller.token : asking.token
  if (token !== null && !headers.has('Authorization')) headers.set('Authorization', `Bearer ${token}`)
  if (method === 'POST') headers.set('Content-Type', 'application/json')
  const body = method === 'POST' ? (asking.raw ?? JSON.stringify(asking.body ?? example.body)) : null
  const url = `${asking.origin ?? 'http://localhost'}/api/v1${path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '')}`
  const response = await api(new Request(url, { method, headers, body }), asking.ip ?? '192.0.2.1')
  const text = await response.text()
  const json = JSON.parse(text)
  const { status } = response
  return {
    status,
    code: json.success ? 'accepted' : json.error.code,
    data: json.data ?? {},
    headers: response.headers,
    text,
  }
}

export const change = (caller: Caller, newEmail: unknown, asking: Asking = {}) =>
  call(caller, 'changeEmail', { body: { new_email: newEmail, current_password: caller.password }, ...asking })

export const verify = (caller: Caller, id: unknown, code: unknown, asking: Asking = {}) =>
  call(caller, 'verifyEmail', { body: { change_request_id: id, verification_code: code }, ...asking })

export const resend = (caller: Caller, id: unknown, asking: Asking = {}) =>
  call(caller, 'resendVerification', { body: { change_request_id: id }, ...asking })

export const withdraw = (caller: Caller, asking: Asking = {}) =>
  call(caller, 'withdrawAccount', { body: { confirmation: 'DELETE_MY_ACCOUNT' }, ...asking })

/** A change that awaits verification, and the code that was mailed for it. */
export async function givenChange(ctx: Service, caller: Caller, newEmail = `new-${caller.email}`) {
  const { data, code } = await change(caller, newEmail)
  if (code !== 'accepted') throw new Error(`the change was refused with ${code}`)
  await ctx.settle()
  return { id: String(data.change_request_id), code: codeSentTo(ctx, newEmail), newEmail }
}

export const emailOf = async (ctx: Service, { userId }: TestUser) =>
  (await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })).email

export interface Proof {
  to: string
  request: string
  code: string
  linkCode: string
}

/** Every verification message so far: where it went, and what it would prove. */
export const proofsIn = (ctx: Service): Proof[] =>
  ctx.mailbox.flatMap(({ to, message }) => {
    if (message.template !== VERIFY) return []
    const fragment = new URLSearchParams(new URL(message.link).hash.slice(1))
    return [{ to, request: fragment.get('request') ?? '', code: message.code, linkCode: fragment.get('code') ?? '' }]
  })

export const mailsTo = (ctx: Service, address: string, template?: string) =>
  ctx.mailbox.filter(({ to, message }) => to === address && (!template || message.template === template))

export const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

/** Whatever is due by then is worked off. */
export async function pass(ctx: Service, ms: number) {
  // What is under way ends first: time that jumps would take its lease away.
  await ctx.settle()
  ctx.clock.advance(ms)
  await runDueWork(ctx)
  await ctx.settle()
}

/** The service with a real mail server behind it, which writes down every recipient it was given. */
export async function givenMailServer(ctx: Service) {
  const recipients: string[] = []
  const mails: Email[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    closeTimeout: 50,
    onRcptTo({ address }, _session, callback) {
      recipients.push(address)
      callback()
    },
    onData(stream, _session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        mails.push(await PostalMime.parse(Buffer.concat(chunks)))
        callback()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const mailer = createMailer({
    smtpUrl: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mailFrom: 'Accounts <no-reply@accounts.test>',
    supportEmail: 'support@accounts.test',
    appUrl: ctx.appUrl,
  })
  ctx.mail = mailer
  return { recipients, mails, mailer }
}
