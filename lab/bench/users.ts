import { createHmac } from 'node:crypto'
import type pg from 'pg'
import type { Call } from './load.ts'
import { seedUsers, tokenOf } from './services.ts'

export const OPERATIONS = ['status', 'change', 'verify', 'resend', 'withdraw'] as const
export type Operation = (typeof OPERATIONS)[number]

export const PASSWORD = 'correct horse battery'
export const SECRET = 'kq8Zt2Vw5Xy7Rb3Nc9Md1Lf4Gh6Js0Pa'
const CODE = '123456'

const method = 'POST'
let serial = Date.now()
const newAddress = () => `c${serial++}@example.test`

/** The users of a database, and the calls of the services on it. */
export function givenUsers(db: pg.Client, passwordHash: string) {
  let seeded = 0
  let changes = new Map<number, string>()
  return {
    get seeded() {
      return seeded
    },
    async seed(count: number) {
      await seedUsers(db, count, passwordHash, seeded + 1)
      seeded += count
    },
    /** Gives each of these users a pending change that `verify` and `resend` call. */
    async prepare(users: number[]) {
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
    /** Removes the changes that were prepared last. */
    async clean() {
      await db.query('DELETE FROM email_change_requests WHERE id = ANY($1)', [[...changes.values()]])
    },
    call(operation: Operation, n: number): Call {
      const scope = operation === 'withdraw' ? 'account:manage' : 'email:manage'
      const headers = { Authorization: `Bearer ${tokenOf(n)}`, 'X-Required-Scope': scope }
      const at = `/api/v1/users/usr_bench${n}`
      switch (operation) {
        case 'status':
          return { method: 'GET', path: `${at}/email/status`, headers }
        case 'change': {
          const body = { new_email: newAddress(), current_password: PASSWORD }
          return { method, path: `${at}/email/change`, headers, body }
        }
        case 'verify': {
          const body = { change_request_id: changes.get(n), verification_code: CODE }
          return { method, path: `${at}/email/verify`, headers, body }
        }
        case 'resend': {
          const body = { change_request_id: changes.get(n) }
          return { method, path: `${at}/email/resend-verification`, headers, body }
        }
        case 'withdraw':
          return { method, path: `${at}/withdraw`, headers, body: { confirmation: 'DELETE_MY_ACCOUNT' } }
      }
    },
  }
}
