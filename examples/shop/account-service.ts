import {
  type AccountMessage,
  createReceiver,
  createServiceClient,
  getUser,
  type Outcome,
  putUser,
} from 'user-account-service/client'
import { query } from './database.ts'
import { acceptDeletion } from './deletions.ts'

const {
  BASE_URL = 'http://localhost:3000',
  SHOP_URL = 'http://localhost:3100',
  SERVICE_TOKEN = '',
  SIGNING_SECRET = '',
} = process.env
const call = createServiceClient({ baseUrl: BASE_URL, serviceToken: SERVICE_TOKEN })

/** Creates the accounts of people whom the service does not know yet. The call may be repeated: it changes nothing then. */
export async function pushUsers(): Promise<void> {
  const users = await query<Record<'id' | 'name' | 'email' | 'password_hash', string>>(
    `SELECT id, name, email, password_hash FROM users WHERE account IS NULL`,
  )
  for (const { id, name, email, password_hash } of users) {
    const password = { format: 'pbkdf2-sha256-django', value: password_hash }
    const { user_id } = await call(putUser, { externalId: id }, { name, email, email_verified: true, password })
    await query(`UPDATE users SET account = $2 WHERE id = $1`, [id, user_id])
  }
}

/** What the service posts to the shop. */
export const receive = createReceiver({
  secrets: SIGNING_SECRET.split(' '),
  handle,
  check: openOrdersOf,
  // Its orders go with it, and what the tax law keeps was reported.
  isPresent: async (account) => (await query(`SELECT FROM users WHERE account = $1`, [account])).length > 0,
  done: {
    has: async (id) => (await query(`SELECT FROM messages WHERE id = $1`, [id])).length > 0,
    add: (id) => query(`INSERT INTO messages VALUES ($1) ON CONFLICT DO NOTHING`, [id]),
  },
})

async function handle({ type, data }: AccountMessage): Promise<Outcome> {
  const [unknown] = await query(`SELECT FROM users WHERE id = $1 AND account IS NULL`, [data.subject])
  // The message comes again, and by then it is known whether it is about this account or about one of before.
  if (unknown) throw new Error('The account of this customer is not known yet.')
  if (type === 'account.email_changed' || type === 'account.email_reverted') await followAddress(data)
  if (type === 'account.withdrawal_started') await endAccess(data.account)
  if (type !== 'account.withdrawn') return 'done'
  // The message comes again, so that no deletion is lost.
  if (!data.task) throw new Error('The shop deletes order by order: register it with --acknowledges later.')
  await endAccess(data.account)
  return acceptDeletion(data.account, data.task)
}

/** Events may arrive in any order: an older version than the one that is known changes nothing. */
async function followAddress({ subject, account, version, new_email }: AccountMessage['data']) {
  const [isNews] = await query(`SELECT FROM users WHERE account = $1 AND account_version < $2`, [account, version])
  if (!isNews) return
  // A message that the operator sends again carries no address.
  const email = new_email ?? (await call(getUser, { externalId: subject })).email
  const sql = `UPDATE users SET email = $2, account_version = $3 WHERE account = $1 AND account_version < $3`
  await query(sql, [account, email, version])
}

const endAccess = (account: string) =>
  query(`UPDATE users SET access_ended_at = coalesce(access_ended_at, now()) WHERE account = $1`, [account])

async function openOrdersOf(subject: string) {
  const sql = `SELECT id, title, cents FROM orders WHERE user_id = $1 AND paid_at IS NULL ORDER BY id LIMIT 20`
  const orders = await query<{ id: number; title: string; cents: number }>(sql, [subject])
  return orders.map(({ id, title, cents }) => ({
    code: 'unpaid_order',
    title: `Order ${id} (${title}) is not paid.`,
    amount: { minor_units: cents, currency: 'EUR' },
    url: `${SHOP_URL}/#order-${id}`,
  }))
}
