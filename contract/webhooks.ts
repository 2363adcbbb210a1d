import * as z from 'zod'
import { isoDateTime } from './fields'
import { EVENT_TYPES, type EventType } from './vocabulary'

/** A message to a connected application, for the description of the API. */
export interface Webhook {
  name: EventType | 'account.withdrawal_check' | 'account.absence_check' | 'ping'
  summary: string
  description: string
  message: z.ZodObject
  examples: Record<string, { summary: string; value: Record<string, unknown> }>
}

const subject = z.string().describe('By what the application knows the person')
const accountId = z
  .string()
  .describe('The account, `usr_…`: keep it, because a person who comes back has another one with the same subject')
const version = z.int().describe('Rises with every change of the account; ignore an older one than you have seen')
const withdrawalId = z.string().describe('The withdrawal, `wd_…`')
const account = { subject, account: accountId, version }
const withdrawal = { ...account, withdrawal_id: withdrawalId }
const change = {
  ...account,
  change_request_id: z.string().describe('The change request, `ecr_…`'),
  old_email: z.string().optional().describe('Present for applications that include `addresses`'),
  new_email: z.string().optional().describe('Present for applications that include `addresses`'),
}
const task = z
  .object({
    id: z.string().describe('The task, `msg_…`'),
    due_by: isoDateTime.describe('When the deletion should be done'),
    report_to: z.string().describe('Where its reports go'),
    report_token: z.string().describe('The token for them, `dtk_…`'),
  })
  .optional()
  .describe('Present for applications with `acknowledges: later`; a report ends the task after a 202')

const EXAMPLE_PERSON = { subject: 'customer-42', account: 'usr_5Tq8wZ1cXk7Yb3nLhRpV0a' }
const EXAMPLE_ACCOUNT = { ...EXAMPLE_PERSON, version: 7 }
const EXAMPLE_CHANGE = { ...EXAMPLE_ACCOUNT, change_request_id: 'ecr_7Yc1fVn0Qk2mXh3rTzB8dA' }
const EXAMPLE_WITHDRAWAL = { withdrawal_id: 'wd_4Qm9ZsX1cT7uYb2LhKpV0w' }

const webhook = (
  name: Webhook['name'],
  summary: string,
  description: string,
  data: z.ZodRawShape,
  examples: Record<string, [summary: string, data: object]>,
): Webhook => ({
  name,
  summary,
  description,
  message: z.object({
    type: z.literal(name).describe('What happened'),
    timestamp: isoDateTime.describe('When it happened'),
    data: z.object(data).describe('About whom, and what'),
  }),
  examples: Object.fromEntries(
    Object.entries(examples).map(([key, [title, member]]) => [
      key,
      { summary: title, value: { type: name, timestamp: '2026-11-20T09:12:00.000Z', data: member } },
    ]),
  ),
})
const ofChange = (summary: string, description: string) => (name: EventType) =>
  webhook(name, summary, description, change, {
    ids: ['Without addresses', EXAMPLE_CHANGE],
    addresses: [
      'With addresses',
      { ...EXAMPLE_CHANGE, old_email: 'ada@example.com', new_email: 'ada.new@example.com' },
    ],
  })
const ofAccount = (summary: string, description: string) => (name: EventType) =>
  webhook(name, summary, description, account, { event: ['The event', EXAMPLE_ACCOUNT] })
const ofWithdrawal = (summary: string, description: string) => (name: EventType) =>
  webhook(name, summary, description, withdrawal, {
    event: ['The event', { ...EXAMPLE_ACCOUNT, ...EXAMPLE_WITHDRAWAL }],
  })

const BY_TYPE: Record<EventType, (name: EventType) => Webhook> = {
  'account.withdrawn': (name) =>
    webhook(
      name,
      'Account Withdrawn',
      'Asks the application to delete everything of this person. Every application that is connected to the person, or told about everyone, gets it, and the withdrawal stays open until each has answered.',
      { subject, account: accountId, withdrawal_id: withdrawalId, task },
      {
        answer: ['The answer ends it', { ...EXAMPLE_WITHDRAWAL, ...EXAMPLE_PERSON }],
        task: [
          'With a task that is reported on later',
          {
            ...EXAMPLE_WITHDRAWAL,
            ...EXAMPLE_PERSON,
            task: {
              id: 'msg_4Qm9ZsX1cT7uYb2LhKpV0w_app_7Yb3nLhRpV0a5Tq8wZ1cXk',
              due_by: '2026-11-21T09:00:00.000Z',
              report_to:
                'https://accounts.example.com/api/v1/tasks/msg_4Qm9ZsX1cT7uYb2LhKpV0w_app_7Yb3nLhRpV0a5Tq8wZ1cXk',
              report_token: 'dtk_k2Jr0m3bUuVn6cXeQyHf8zTgPa5dSw1LiO7vEqBxN4M',
            },
          },
        ],
      },
    ),
  'account.email_change_requested': ofChange(
    'Email Change Requested',
    'Somebody has started a change of the address; nothing has changed yet.',
  ),
  'account.email_changed': ofChange('Email Changed', 'The account has another address, which is verified.'),
  'account.email_reverted': ofChange(
    'Email Change Reverted',
    'The owner of the old address has undone a change; the account has that address again.',
  ),
  'account.password_changed': ofAccount(
    'Password Changed',
    'The account has another password, and other sessions have ended.',
  ),
  'account.sessions_ended': ofAccount(
    'Sessions Ended',
    'Sessions or tokens of the person were ended; end your own as well.',
  ),
  'account.signed_in_from_new_device': ofAccount(
    'Signed In From New Device',
    'Somebody signed in from a browser that the account was not seen on for 90 days; the person was told by mail.',
  ),
  'account.email_undeliverable': ofAccount(
    'Email Undeliverable',
    "The account's address takes no mail, because a message to it failed permanently; ask the person for another address.",
  ),
  'account.security_notice_undelivered': (name) =>
    webhook(
      name,
      'Security Notice Undelivered',
      'The message that tells the old address of a change came back, so that nobody there could stop or undo it; make sure that the change was the person’s own.',
      { ...account, change_request_id: change.change_request_id },
      { event: ['The event', EXAMPLE_CHANGE] },
    ),
  'account.withdrawal_started': ofWithdrawal(
    'Withdrawal Started',
    'The account is off from now on; end its access. The request to delete follows as `account.withdrawn`.',
  ),
  'account.withdrawal_completed': ofWithdrawal('Withdrawal Completed', 'Every deletion step is completed.'),
  'account.purged': ofWithdrawal(
    'Account Purged',
    'What was kept under a pseudonym is deleted too; this is the last message about the person.',
  ),
}

export const webhooks: readonly Webhook[] = [
  ...EVENT_TYPES.map((type) => BY_TYPE[type](type)),
  webhook(
    'account.withdrawal_check',
    'Account Withdrawal Check',
    'Asks whether anything holds a withdrawal back, before anything is written. Answer 200 with `{"blockers": [{"code", "title", "url", "amount"}]}`, of which `url` and `amount` may be missing, within three seconds, an empty list where you know of nothing.',
    { subject, account: accountId },
    { event: ['The question', EXAMPLE_PERSON] },
  ),
  webhook(
    'account.absence_check',
    'Account Absence Check',
    'Asks an application that confirms whether this account is gone, a day after its deletion. Answer 200 with `{"present": false, "account": "usr_…"}` where you have nothing of the account, else with `{"present": true, …}`: then it is told again. Look by `account`, because somebody else may have the subject by now.',
    { subject, account: accountId },
    { event: ['The question', EXAMPLE_PERSON] },
  ),
  webhook(
    'ping',
    'Ping',
    'An operator tries the endpoint. It is about nobody, and any 2xx will do.',
    {},
    {
      event: ['The call', {}],
    },
  ),
]
