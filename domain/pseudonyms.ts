import type { AnyContext } from './context'
import { type Described, text } from './sql'

/** The keyed hash that replaces the id of an erased user. */
export const pseudonymOf = (ctx: AnyContext, userId: string): string =>
  ctx.secrets.mac('pseudonym', userId).toString('base64url')

/** A short name of each secret that makes pseudonyms, newest first. No user has this id. */
export const keyIdsOf = (ctx: AnyContext): string[] =>
  ctx.secrets.macs('pseudonym', 'the name of this key').map((mac) => mac.toString('base64url').slice(0, 12))

const MARK_CHARACTERS = 22

/** By which an account is found whose pseudonym is known. It is hashed again, so that a backup does not tell whose records are kept. */
export const ledgerMarkOf = (ctx: AnyContext, userId: string): string =>
  ledgerMarkOfPseudonym(ctx, pseudonymOf(ctx, userId), keyIdsOf(ctx)[0] as string)

/** `key` names the secret, one of ours, that has made the pseudonym. */
export function ledgerMarkOfPseudonym(ctx: AnyContext, pseudonym: string, key: string): string {
  const mac = ctx.secrets.macs('ledger-mark', pseudonym)[keyIdsOf(ctx).indexOf(key)]
  return `${key}.${mac?.toString('base64url').slice(0, MARK_CHARACTERS)}`
}

/** The marks of one secret lie from `first` to below `end`. */
export const MARKS = { first: text, end: text }

/** Without a key no account is marked with it. */
export const marksOf = (key: string | undefined): Described<typeof MARKS> =>
  key === undefined ? { first: '', end: '' } : { first: `${key}.`, end: `${key}/` }
