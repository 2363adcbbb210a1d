import type { Limits } from '@/domain/limits/limits'
import { OWN_PASSWORD_PREFIX } from '@/domain/passwords/password-formats'
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

export const OUTSIDE_TOKEN = 'an.outside.token'

/** An outside issuer is configured, and vouches for this caller with one token and no other. */
export function acceptOutsideToken(ctx: TestContext, { userId }: Pick<TestUser, 'userId'>) {
  const expiresAt = new Date(ctx.clock.now().getTime() + 90 * day)
  const issuedAt = ctx.clock.now()
  ctx.outsideIssuer = {
    subjectIs: 'user_id',
    verify: async (token) =>
      token === OUTSIDE_TOKEN
        ? {
            subject: userId,
            scopes: ['email:manage', 'account:manage'],
            expiresAt,
            issuedAt,
            authenticatedAt: null,
            acr: null,
          }
        : null,
  }
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
