import { randomBytes } from 'node:crypto'
import { hash } from '@node-rs/argon2'
import { sha256 } from '@/domain/access/authenticate'
import type { MailServer } from '@/faults/mail-server'
import type { World } from '@/faults/world'
import type { Shot } from './gun'
import type { SentMail } from './invariants'

export interface Person {
  id: string
  mark: string
  email: string
  password: string
  token: string
}

const PASSWORD = `password ${randomBytes(6).toString('hex')}`
/** Checked in a millisecond: the rounds are to meet in the database, not in the queue of hashes. */
export const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 }
export const COSTLY = { memoryCost: 12_288, timeCost: 3, parallelism: 1 }
const BOTH_SCOPES = ['email:manage', 'account:manage']

/** Accounts with a token, written as the service would write them. */
export async function givenPeople(
  world: Pick<World, 'query'>,
  count: number,
  { cost = CHEAP, scopes = BOTH_SCOPES } = {},
): Promise<Person[]> {
  const passwordHash = await hash(PASSWORD, cost)
  const people = Array.from({ length: count }, (): Person => {
    const mark = `p${randomBytes(8).toString('hex')}`
    const id = `usr_${randomBytes(16).toString('base64url')}`
    const token = `uat_${randomBytes(32).toString('base64url')}`
    return { id, mark, email: `old-${mark}@example.test`, password: PASSWORD, token }
  })
  await world.query(
    `INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
     SELECT id, 'Ada', email, email, now(), $3, now() FROM unnest($1::text[], $2::text[]) AS u (id, email)`,
    [people.map(({ id }) => id), people.map(({ email }) => email), passwordHash],
  )
  await world.query(
    `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
     SELECT 'tok_' || substr(user_id, 5), user_id, 'proof', hash, $3::text[], now(), now() + interval '1 day'
     FROM unnest($1::text[], $2::bytea[]) AS t (user_id, hash)`,
    [people.map(({ id }) => id), people.map(({ token }) => sha256(token)), scopes],
  )
  return people
}

type Caller = Pick<Person, 'id' | 'token'>

const post = ({ id, token }: Caller, path: string, scope: string, body: object): Shot => ({
  method: 'POST',
  path: `/api/v1/users/${id}/${path}`,
  headers: { Authorization: `Bearer ${token}`, 'X-Required-Scope': scope },
  body: JSON.stringify(body),
})

export const change = (person: Person, newEmail = `new-${person.mark}@example.test`, password = person.password) =>
  post(person, 'email/change', 'email:manage', { new_email: newEmail, current_password: password })

export const verify = (person: Caller, request: string, code: string) =>
  post(person, 'email/verify', 'email:manage', { change_request_id: request, verification_code: code })

export const resend = (person: Caller, request: string) =>
  post(person, 'email/resend-verification', 'email:manage', { change_request_id: request })

export const withdraw = (person: Caller) =>
  post(person, 'withdraw', 'account:manage', { confirmation: 'DELETE_MY_ACCOUNT' })

/** The codes that arrived in this mailbox, oldest first. */
export const codesTo = (mail: MailServer, address: string): string[] =>
  mail.to(address).flatMap(({ text }) => /code=(\d{6})/.exec(text)?.[1] ?? [])

/** What the mail server took, as the checker reads it. */
export const sentMails = ({ mails }: MailServer): SentMail[] =>
  mails.map(({ to, messageId, text, subject }) => {
    const code = /code=(\d{6})/.exec(text)?.[1]
    const id = /^<([^@]+)@/.exec(messageId)?.[1] ?? messageId
    const template = code
      ? 'verify-new-email'
      : /withdraw|delet/i.test(subject)
        ? 'account-withdrawal-started'
        : 'email-changed'
    return { to: to.join(), id, template, code, at: new Date(0) }
  })
