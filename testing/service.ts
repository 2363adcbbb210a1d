import type { Limits } from '@/domain/limits/limits'
import { OWN_PASSWORD_PREFIX } from '@/domain/passwords/password-formats'
import type { OutsideIssuer, OutsideToken } from '@/domain/ports'
import { day } from './api-calls'
import type { TestContext, TestUser } from './domain'
import { installed } from './install-context'

export const VERIFY = 'verify-new-email'

export interface Service extends TestContext {
  /** How many passwords were compared with a hash. */
  compared: number
}

/** A service whose password hashing is free and counted, because its tests are not about hashing. */
export async function givenService(limits: Partial<Limits> = {}): Promise<Service> {
  const ctx: Service = Object.assign(await installed(limits), { compared: 0 })
  ctx.passwords = {
    hash: async (password) => OWN_PASSWORD_PREFIX + password,
    verify: async (hash, password) => {
      ctx.compared++
      return hash === OWN_PASSWORD_PREFIX + password
    },
    timeOf: async () => 0,
  }
  return ctx
}

/** Configures an outside issuer. `read` returns the claims of a token, or null for a token of another issuer. */
export function trustIssuer(
  ctx: TestContext,
  read: (token: string) => (Pick<OutsideToken, 'subject'> & Partial<OutsideToken>) | null,
  subjectIs: OutsideIssuer['subjectIs'] = 'user_id',
) {
  const verify = async (token: string) => {
    const now = ctx.clock.now()
    const usual = { issuedAt: now, expiresAt: new Date(now.getTime() + day), authenticatedAt: null, acr: null }
    const said = read(token)
    return said && { ...usual, scopes: ['email:manage' as const, 'account:manage' as const], ...said }
  }
  ctx.outsideIssuer = { subjectIs, verify }
}

export const OUTSIDE_TOKEN = 'an.outside.token'

/** Configures an outside issuer that has signed one token, for this caller. */
export function acceptOutsideToken(ctx: TestContext, { userId }: Pick<TestUser, 'userId'>) {
  const issuedAt = ctx.clock.now()
  const expiresAt = new Date(issuedAt.getTime() + 90 * day)
  trustIssuer(ctx, (token) => (token === OUTSIDE_TOKEN ? { subject: userId, issuedAt, expiresAt } : null))
}

export const emailOf = async (ctx: Service, { userId }: TestUser) =>
  (await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })).email

export interface Proof {
  to: string
  request: string
  code: string
  linkCode: string
}

/** Every verification message so far: its recipient, its change request and its codes. */
export const proofsIn = (ctx: Service): Proof[] =>
  ctx.mailbox.flatMap(({ to, message }) => {
    if (message.template !== VERIFY) return []
    const fragment = new URLSearchParams(new URL(message.link).hash.slice(1))
    return [{ to, request: fragment.get('request') ?? '', code: message.code, linkCode: fragment.get('code') ?? '' }]
  })

export const mailsTo = (ctx: Service, address: string, template?: string) =>
  ctx.mailbox.filter(({ to, message }) => to === address && (!template || message.template === template))

export const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
