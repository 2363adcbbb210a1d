import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { createClient } from '../../contract/client'
import type { Answer, Body, Contract } from '../../contract/define'
import type {
  cancelEmailChange,
  changeEmail,
  getEmailStatus,
  resendVerification,
  verifyEmail,
} from '../../contract/email'
import type { getWithdrawalStatus, previewWithdrawal, withdrawAccount } from '../../contract/withdrawal'
import type { PageToken, StartedDeletion } from './element-types'
import type { OwnTexts } from './own-texts'

export type { OwnTexts, PageToken, StartedDeletion }

/** The texts of one language, such as `user-account-service/texts/de`. */
export interface Texts {
  language: string
  texts: object
}

export interface AccountProviderProps {
  /** The origin of the service. */
  baseUrl: string
  /** `usr_…`, or `~` and your own id of the person. */
  userId: string
  /**
   * Asks your backend for a page token: at first, shortly before the last one ends, and after a new sign-in. Where nobody is signed in to your
   * product any more it gives null, and the parts ask to sign in again. Where it fails, the parts say that they keep trying.
   */
  pageToken: () => Promise<PageToken | null>
  /** Where the person proves once more who they are: a page of yours that leads back, or a function that resolves when they have. */
  signInAgain?: string | (() => Promise<unknown>) | undefined
  /** Whether the account has a password of this service, which a change of the address then asks for. */
  hasPassword?: boolean | undefined
  texts: Texts
  /** Texts of your own in place of ours, by area and key, such as `{ EmailSettings: { title: 'Your mail' } }`. They take no values. */
  ownTexts?: OwnTexts | undefined
  /** The name of your product. */
  product: string
  /** Where people write when they need help. */
  supportEmail: string
  children: ReactNode
}

export interface EmailSettingsProps {
  /** Called with the new address once it is in effect, also where another browser verified it. */
  onChanged?: ((email: string) => unknown) | undefined
}

export interface DeleteAccountProps {
  /**
   * Called when the deletion has begun. Sign the person out of your product then; the progress stays on the page. A page that was reloaded
   * before the answer came is not told, and your backend then gets USER_001.
   */
  onStarted?: ((started: StartedDeletion) => unknown) | undefined
}

export interface OwnAccount {
  userId: string
  /** Calls an operation of `user-account-service/client` as the person, with a page token: `call(getEmailStatus, { userId })`. */
  call: ReturnType<typeof createClient>
}

/** The answer of an operation, as react-query has it. */
type Read<Operation extends Contract> = UseQueryResult<Answer<Operation>>
/** A call of an operation, as react-query has it. */
type Calls<Operation extends Contract, Values = Body<Operation>> = UseMutationResult<Answer<Operation>, Error, Values>

export interface CancelledChange {
  change_request_id: string
}

/** What `user-account-service/react` exports. The hooks stand inside an `AccountProvider`, whose react-query client they and the parts share. */
export interface Parts {
  /** Says an error of the other hooks in the language of the texts. */
  useErrorText: () => (error: unknown) => string
  /** For every other operation. */
  useOwnAccount: () => OwnAccount
  /** Read again while a change is pending, and after each of the next calls that succeeds; not once a deletion has begun. */
  useEmailStatus: () => Read<typeof getEmailStatus>
  useChangeEmail: () => Calls<typeof changeEmail>
  useVerifyEmail: () => Calls<typeof verifyEmail>
  useResendVerification: () => Calls<typeof resendVerification>
  useCancelEmailChange: () => Calls<typeof cancelEmailChange, CancelledChange>
  /** What a deletion would delete and keep, and what holds it back. */
  useDeletionPreview: () => Read<typeof previewWithdrawal>
  /** After it nothing else is read as the person: sign them out of your product. */
  useDeleteAccount: () => Calls<typeof withdrawAccount>
  /** Read again until the deletion is completed. */
  useDeletionProgress: (started: StartedDeletion) => Read<typeof getWithdrawalStatus>
  AccountProvider: (props: AccountProviderProps) => ReactNode
  EmailSettings: (props: EmailSettingsProps) => ReactNode
  DeleteAccount: (props: DeleteAccountProps) => ReactNode
  DeletionProgress: (started: StartedDeletion) => ReactNode
}
