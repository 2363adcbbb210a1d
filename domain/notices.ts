import { emailChangeRequested } from './email/change-email'
import { emailChanged } from './email/email-changed'
import { emailReverted } from './email/undo-email-change'
import type { LinkNotice } from './mail/link-notice'
import type { LinkKind } from './mail/links'
import type { NoticeKinds } from './mail/notice-queue'
import { passwordChanged } from './passwords/replace-password'
import { passwordReset } from './passwords/request-password-reset'
import { accessTokenCreated } from './sessions/access-tokens'
import { newDevice, newDevices } from './sessions/new-device'
import { dataExported } from './withdrawal/export-data'
import { undoBeforeWithdrawal, withdrawalRequested } from './withdrawal/request-withdrawal'
import { replacedAddressNotice, withdrawalStarted } from './withdrawal/withdrawal-notices'

/** The letters with a link. */
export const LINK_NOTICES = {
  password_reset: passwordReset,
  withdrawal_requested: withdrawalRequested,
} satisfies Record<LinkKind, LinkNotice>

/** Every kind of notice, which a later attempt finds by the name in its row. */
export const NOTICE_KINDS = Object.fromEntries(
  [
    emailChangeRequested,
    emailChanged,
    emailReverted,
    passwordChanged,
    newDevice,
    newDevices,
    accessTokenCreated,
    dataExported,
    withdrawalStarted,
    replacedAddressNotice,
    undoBeforeWithdrawal,
    ...Object.values(LINK_NOTICES),
  ].map((kind) => [kind.name, kind]),
) satisfies NoticeKinds
