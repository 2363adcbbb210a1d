import type { WithdrawalStatus } from './withdrawal-status'

export type Application = WithdrawalStatus['applications'][number]

/** Nobody knows whether it has deleted the person's data. */
export const isUnconfirmed = ({ waived, absence }: Application): boolean =>
  waived !== undefined || absence === 'unconfirmed' || absence === 'present'

/** It has said that it is done, and is asked once more. */
export const isBeingChecked = ({ waived, absence, next_attempt_at }: Application): boolean =>
  waived === undefined && absence === 'unconfirmed' && next_attempt_at !== undefined

/** Until when the applications have time: most belong to the step that tells them. The answer does not say which belong to another. */
export const plannedEndOf = ({ deletion_steps, scheduled_completion }: WithdrawalStatus): number =>
  Date.parse(
    deletion_steps.find(({ step }) => step === 'third_party_integrations')?.estimated_completion ??
      scheduled_completion,
  )

/** Its next call is due. */
export const isDue = ({ next_attempt_at }: Application, now: number): boolean =>
  next_attempt_at !== undefined && Date.parse(next_attempt_at) <= now

/** Its first call is due, so that it is asked now. */
export const isFirstCallDue = (application: Application, now: number): boolean =>
  application.status === 'pending' && isDue(application, now)

/** Its time has passed and it has not said that it is done. One whose step begins later was not asked yet. */
export function isLate(application: Application, plannedEnd: number, now: number): boolean {
  const { status, next_attempt_at } = application
  if (status === 'completed' || isUnconfirmed(application) || now <= plannedEnd) return false
  return status !== 'pending' || next_attempt_at === undefined || isDue(application, now)
}
