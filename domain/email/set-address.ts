import { type Address, parseAddress } from '@/contract/address'
import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { heldSince } from '../limits/held-addresses'
import { isUniqueViolation, RAISE_VERSION, type Sql, sql, statement, text, time } from '../sql'

const setAddressOf = statement(
  'set-address',
  { userId: text, email: text, emailKey: text, verifiedAt: time.orNull, heldSince: time },
  { id: text },
  (v) => sql`UPDATE users SET email = ${v.email}, email_key = ${v.emailKey}, email_verified_at = ${v.verifiedAt},
     email_undeliverable_at = NULL, ${RAISE_VERSION}
   WHERE id = ${v.userId} AND address_is_free(${v.emailKey}, ${v.userId}, ${v.heldSince}) RETURNING id`,
)

interface NewAddress {
  userId: string
  address: Pick<Address, 'typed' | 'key'>
  verifiedAt: Date | null
  at: Date
}

/** False if somebody else has the address, or it is held for somebody else. `tx` must hold the account's lock. */
export async function setAddress(
  ctx: SystemContext,
  tx: Sql,
  { userId, address, verifiedAt, at }: NewAddress,
): Promise<boolean> {
  const { typed: email, key: emailKey } = address
  return (await tx(setAddressOf, { userId, email, emailKey, verifiedAt, heldSince: heldSince(ctx, at) })).length > 0
}

export function parseStoredAddress(stored: string): Address {
  const address = parseAddress(stored)
  if (!address) throw new Error('a stored address does not parse')
  return address
}

/** For writers of an address: another one may store it without `address_is_free`. */
export function refuseTakenAddress(error: unknown): never {
  throw isUniqueViolation(error, 'users_email_key_key') ? new AppError('EMAIL_002') : error
}
