import { type Address, parseAddress } from '@/contract/address'
import { AppError } from '@/contract/errors'
import type { Context, Transaction } from '../context'
import { heldSince } from '../limits/held-addresses'
import { boolean, isUniqueViolation, RAISE_VERSION, sql, statement, text, time } from '../sql'

const askForAddress = statement(
  'ask-for-address',
  { userId: text, emailKey: text, heldSince: time },
  { is_free: boolean },
  (v) => sql`SELECT address_is_free(${v.emailKey}, ${v.userId}, ${v.heldSince}) AS is_free`,
)

/** False if somebody else has the address, or it is held for somebody else. That stays so until the transaction ends. */
export async function isAddressFree(
  tx: Transaction,
  { userId, emailKey, at }: { userId: string; emailKey: string; at: Date },
): Promise<boolean> {
  const [found] = await tx.sql(askForAddress, { userId, emailKey, heldSince: heldSince(tx, at) })
  return found?.is_free ?? false
}

/** In a transaction that holds the account's lock and has asked `address_is_free`. */
export const setAddress = statement(
  'set-address',
  { userId: text, email: text, emailKey: text, verifiedAt: time.orNull },
  {},
  (v) => sql`UPDATE users SET email = ${v.email}, email_key = ${v.emailKey}, email_verified_at = ${v.verifiedAt},
     email_undeliverable_at = NULL, ${RAISE_VERSION} WHERE id = ${v.userId}`,
)

export function parseStoredAddress(stored: string): Address {
  const address = parseAddress(stored)
  if (!address) throw new Error('a stored address does not parse')
  return address
}

/** Whether it is the present address of the caller. */
export const isOwnAddress = ({ actor }: Context, { key }: Address): boolean =>
  parseAddress(actor.user.email)?.key === key

/** For writers of an address: another one may store it without `address_is_free`. */
export function refuseTakenAddress(error: unknown): never {
  throw isUniqueViolation(error, 'users_email_key_key') ? new AppError('EMAIL_002') : error
}
