import { createHash, createHmac } from 'node:crypto'
import type pg from 'pg'
import type { Call } from './load.ts'
import { seedUsers, tokenOf } from './services.ts'

export const OPERATIONS = ['status', 'change', 'change-no-hash', 'verify', 'resend', 'withdraw'] as const
export type Operation = (typeof OPERATIONS)[number]

export const PASSWORD = 'correct horse battery'
export const SECRET = 'kq8Zt2Vw5Xy7Rb3Nc9Md1Lf4Gh6Js0Pa'
const CODE = '123456'

/** A database and the calls of its services: that of service and floor, or that of the peer. */
export interface Side {
  /** So many users more. */
  seed(count: number): Promise<void>
  readonly seeded: number
  /** Gives each of these users a pending change that `verify` and `resend` call. */
  prepare(users: number[]): Promise<void>
  /** Removes the changes that were prepared last. */
  clean(): Promise<void>
  /** Undefined for a call that the side does not have. */
  call(operation: Operation, n: number): Call | undefined
}

const method = 'POST'
let serial = Date.now()
const newAddress = () => `c${serial++}@example.test`

export function ownSide(db: pg.Client, passwordHash: string): Side {
  let seeded = 0
  let changes = new Map<number, string>()
  return {
    get seeded() {
      return seeded
    },
    async seed(count) {
      await seedUsers(db, count, passwordHash, seeded + 1)
      seeded += count
    },
    async prepare(users) {
      const run = (serial++).toString(36)
      changes = new Map(users.map((n) => [n, `ecr_${`${run}x${n}`.padEnd(22, 'x')}`]))
      const ids = [...changes.values()]
      const macs = ids.map((id) => createHmac('sha256', SECRET).update(`verification-code\0${id}:${CODE}`).digest())
      const owners = users.map((n) => `usr_bench${n}`)
      await db.query(`DELETE FROM email_change_requests WHERE user_id = ANY($1) AND status = 'pending_verification'`, [
        owners,
      ])
      await db.query(
        `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac, requested_at,
                                            request_ip, sent_at, expires_at)
         SELECT r.id, u.id, 'pending_verification', 'email_code', u.email, r.id || '@example.test', r.id || '@example.test', r.mac,
                now(), '127.0.0.1', now() - interval '1 hour', now() + interval '11 hours'
         FROM unnest($1::text[], $2::text[], $3::bytea[]) r (id, owner, mac) JOIN users u ON u.id = r.owner`,
        [ids, owners, macs],
      )
    },
    async clean() {
      await db.query('DELETE FROM email_change_requests WHERE id = ANY($1)', [[...changes.values()]])
    },
    call(operation, n) {
      const scope = operation === 'withdraw' ? 'account:manage' : 'email:manage'
      const headers = { Authorization: `Bearer ${tokenOf(n)}`, 'X-Required-Scope': scope }
      const at = `/api/v1/users/usr_bench${n}`
      switch (operation) {
        case 'status':
          return { method: 'GET', path: `${at}/email/status`, headers }
        case 'change':
        case 'change-no-hash': {
          const current_password = operation === 'change' ? PASSWORD : 'no hash'
          return { method, path: `${at}/email/change`, headers, body: { new_email: newAddress(), current_password } }
        }
        case 'verify': {
          const body = { change_request_id: changes.get(n), verification_code: CODE }
          return { method, path: `${at}/email/verify`, headers, body }
        }
        case 'resend':
          return {
            method,
            path: `${at}/email/resend-verification`,
            headers,
            body: { change_request_id: changes.get(n) },
          }
        case 'withdraw':
          return { method, path: `${at}/withdraw`, headers, body: { confirmation: 'DELETE_MY_ACCOUNT' } }
      }
    },
  }
}

export function peerSide(db: pg.Client, passwordHash: string): Side {
  let seeded = 0
  let run = ''
  const hashedCode = `${createHash('sha256').update(CODE).digest('base64url')}:0`
  return {
    get seeded() {
      return seeded
    },
    async seed(count) {
      const from = `FROM generate_series(${seeded + 1}, ${seeded + count}) n`
      await db.query(`INSERT INTO "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
        SELECT 'usr_bench' || n, 'Bench', 'u' || n || '@example.test', true, now(), now() ${from}`)
      await db.query(`INSERT INTO session (id, token, "userId", "expiresAt", "createdAt", "updatedAt")
        SELECT 'ses_bench' || n, lpad(n::text, 32, 'a'), 'usr_bench' || n, now() + interval '7 days', now(), now() ${from}`)
      await db.query(`INSERT INTO account (id, "accountId", "providerId", "userId", password, "createdAt", "updatedAt")
        SELECT 'acc_bench' || n, 'usr_bench' || n, 'credential', 'usr_bench' || n, '${passwordHash}', now(), now() ${from}`)
      seeded += count
    },
    async prepare(users) {
      run = (serial++).toString(36)
      await db.query(
        `INSERT INTO verification (id, identifier, value, "expiresAt", "createdAt", "updatedAt")
         SELECT $2 || n, 'change-email-otp-' || u.email || '-' || $2 || n || '@example.test', $3, now() + interval '12 hours', now(), now()
         FROM unnest($1::int[]) n JOIN "user" u ON u.id = 'usr_bench' || n`,
        [users, run, hashedCode],
      )
    },
    async clean() {
      await db.query('DELETE FROM verification WHERE id LIKE $1', [`${run}%`])
    },
    call(operation, n) {
      const token = String(n).padStart(32, 'a')
      const signature = encodeURIComponent(createHmac('sha256', SECRET).update(token).digest('base64'))
      const headers = { Authorization: `Bearer ${token}.${signature}` }
      const at = '/api/auth'
      switch (operation) {
        case 'status':
          return { method: 'GET', path: `${at}/get-session`, headers }
        case 'change':
        case 'change-no-hash': {
          const body = { newEmail: newAddress(), currentPassword: operation === 'change' ? PASSWORD : 'no hash' }
          return { method, path: `${at}/email-otp/request-email-change`, headers, body }
        }
        case 'verify': {
          const body = { newEmail: `${run}${n}@example.test`, otp: CODE }
          return { method, path: `${at}/email-otp/change-email`, headers, body }
        }
        case 'resend':
          return undefined
        case 'withdraw':
          return { method, path: `${at}/delete-user`, headers, body: {} }
      }
    },
  }
}
