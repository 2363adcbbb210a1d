import { AppError } from '@/contract/errors'
import type { AnyContext } from '../context'
import {
  type Bucket,
  givePlacesBack,
  type NotingContext,
  type TakenPlaces,
  userBucket,
  withPlaces,
} from '../limits/buckets'

/** An email change and a new password share these limits, so that they share five guesses. */
export const guessBuckets = (ctx: AnyContext, userId: string): Bucket[] => [
  userBucket(ctx, 'password', userId),
  userBucket(ctx, 'passwordDay', userId),
]

const isWrongPassword = (error: unknown) => error instanceof AppError && error.code === 'EMAIL_007'

/** Keeps the places only of a wrong password. Any other failure means that the password was not checked, so this was no guess. */
export async function countGuess<T>(ctx: NotingContext, guess: TakenPlaces, check: () => Promise<T>): Promise<T> {
  const proven = await withPlaces(ctx, guess, check, isWrongPassword)
  await givePlacesBack(ctx, guess)
  return proven
}
