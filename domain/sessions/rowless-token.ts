import type { Credential } from '../context'
import { second } from '../limits/durations'
import { type Described, integer, time } from '../sql'

/** What of an account decides whether a token without a row of its own is still good. */
export const CREDENTIAL_STATE = {
  created_at: time,
  credentials_since: time.orNull,
  credential_version: integer,
}
export type CredentialState = Described<typeof CREDENTIAL_STATE>

/**
 * An outside token is good if it was issued since the account was created, and since all its access was ended last. Issuers tell the
 * time in whole seconds: one of the second of the creation is good, one of the second of the end is not. A token that does not tell
 * when it was issued is good until then. A page token names the state that it was issued for, so that no clock decides.
 */
export function isOutdated(
  { created_at: created, credentials_since: since, credential_version: version }: CredentialState,
  { issuedFor, issuedAt }: NonNullable<Credential['rowless']>,
): boolean {
  if (issuedFor) return issuedFor.version !== version || issuedFor.since?.getTime() !== since?.getTime()
  if (!issuedAt) return since !== null
  // A time that the calendar does not hold compares as false: as a token that tells no time, it is good until an end of all access.
  const isAfterEnd = since === null || issuedAt > since
  return !isAfterEnd || issuedAt.getTime() < Math.floor(created.getTime() / second) * second
}
