import type { Address } from '@/contract/address'
import { AppError } from '@/contract/errors'
import { type AuditActor, addAudit } from '../audit'
import type { Transaction } from '../context'
import { heldSince } from '../limits/held-addresses'
import { ledgerMarkOf } from '../pseudonyms'
import { integer, sql, statement, text, time } from '../sql'
import { sinceFormer } from './update-account'

// A hash that a service gives is from where the person has signed in before. Any other account is new to everybody, so that no mail
// tells of its first sign-in.
const insertAccount = statement(
  'create-account-of-service',
  {
    id: text,
    externalId: text.orNull,
    name: text,
    email: text,
    emailKey: text,
    emailVerifiedAt: time.orNull,
    passwordHash: text.orNull,
    locale: text.orNull,
    firstVersion: integer,
    ledgerMark: text,
    heldSince: time,
    now: time,
  },
  { id: text },
  (v) => sql`INSERT INTO users (id, external_id, name, email, email_key, email_verified_at, password_hash, locale,
                      version, ledger_mark, created_at, credentials_since, never_signed_in)
   SELECT ${v.id}, ${v.externalId}, ${v.name}, ${v.email}, ${v.emailKey}, ${v.emailVerifiedAt}, ${v.passwordHash}, ${v.locale},
          ${v.firstVersion}::int, ${v.ledgerMark}, ${v.now}, ${sinceFormer(v)},
          ${v.externalId}::text IS NULL OR ${v.passwordHash}::text IS NULL
   WHERE address_is_free(${v.emailKey}, ${v.id}, ${v.heldSince})
   RETURNING id`,
)

interface NewAccount {
  externalId: string | null
  name: string
  address: Address
  isVerified: boolean
  passwordHash: string | null
  locale: string | null
  firstVersion: number
}

/** Returns the id of the account. Refuses an address that is in use or held. */
export async function createAccount(
  tx: Transaction,
  { address, isVerified, ...account }: NewAccount,
  by: AuditActor,
): Promise<string> {
  const now = tx.clock.now()
  const id = tx.secrets.randomId('usr_')
  const rows = await tx.sql(insertAccount, {
    ...account,
    id,
    email: address.typed,
    emailKey: address.key,
    emailVerifiedAt: isVerified ? now : null,
    ledgerMark: ledgerMarkOf(tx, id),
    heldSince: heldSince(tx, now),
    now,
  })
  if (rows.length === 0) throw new AppError('EMAIL_002')
  await addAudit(tx, 'user.created', { ...by, userId: id, at: now })
  return id
}
