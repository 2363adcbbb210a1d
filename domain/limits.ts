/** At most `places` calls in any rolling `windowMs`. */
export interface Limit {
  places: number
  windowMs: number
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Every default limit and duration. `server/env.ts` lets the environment override each. */
export const LIMITS = {
  /** Accepted change requests of a user. */
  change: { places: 3, windowMs: hour },
  /** Wrong passwords of a user when asking for a change. */
  password: { places: 5, windowMs: 15 * minute },
  passwordDay: { places: 20, windowMs: day },
  /** Changes of a user to an address that is taken. */
  taken: { places: 5, windowMs: hour },
  /** Change requests for, and verification messages to, one address, over all users. */
  target: { places: 5, windowMs: day },
  targetMail: { places: 20, windowMs: day },
  verify: { places: 30, windowMs: hour },
  withdraw: { places: 5, windowMs: hour },
  /** Kept in each instance's memory. */
  read: { places: 300, windowMs: minute },
  /** Wrong passwords for a pair of account and client, and for a client: an IPv4 address, or the 64 bits of an IPv6 network. */
  signIn: { places: 10, windowMs: 15 * minute },
  signInAddress: { places: 100, windowMs: 15 * minute },
  /** Judged codes of one change request. */
  codeAttempts: 5,
  codeValidityMs: 12 * hour,
  /** The end of a change request, however often its message is sent again. */
  changeLifetimeMs: day,
  resendCooldownMs: 5 * minute,
  /** From the start of a withdrawal to the purge of what had to stay; the time scale multiplies it. */
  withdrawalRetentionMs: 30 * day,
}

export type Limits = typeof LIMITS
export type BucketName = { [K in keyof Limits]: Limits[K] extends Limit ? K : never }[keyof Limits]
