import { expect, test } from 'vitest'
import { signingKey } from '@/domain/withdrawal/receipts/signing-keys'
import { type Answer, type Caller, call, change, hour, resend, verify, withdraw } from '@/testing/api-calls'
import { givenCaller, givenChange } from '@/testing/callers'
import { acceptOutsideToken, givenService, OUTSIDE_TOKEN, type Service } from '@/testing/service'
import { wrapping } from '@/testing/statements'

const operations: [string, (ctx: Service, caller: Caller) => Promise<() => Promise<Answer>>, string[]][] = [
  ['a read', async (_ctx, caller) => () => call(caller, 'getEmailStatus'), ['find-callers']],
  [
    'a read by an outside token of an external id, with that id in the path',
    async (ctx, caller) => {
      await ctx.db.user.update({ where: { id: caller.userId }, data: { externalId: `ext of ${caller.userId}` } })
      acceptOutsideToken(ctx, { ...caller, userId: `ext of ${caller.userId}` })
      Object.assign(ctx.outsideIssuer ?? {}, { subjectIs: 'external_id' })
      const userId = encodeURIComponent(`~ext of ${caller.userId}`)
      return () => call({ userId, token: OUTSIDE_TOKEN }, 'getEmailStatus')
    },
    ['find-callers'],
  ],
  [
    'a change',
    async (_ctx, caller) => () => change(caller, `new-${caller.email}`),
    [
      'find-callers',
      'begin-email-change',
      'give-places-back',
      'take-places',
      'lock-proven-account',
      'find-live-account',
      'address-is-taken',
      'requester-of-pending-change',
      'supersede-change',
      'open-email-change',
      'add-audit',
      'add-event',
      'add-notices',
    ],
  ],
  [
    'a resend',
    async (ctx, caller) => {
      const { id } = await givenChange(ctx, caller)
      ctx.clock.advance(hour)
      return () => resend(caller, id)
    },
    ['find-callers', 'claim-resend', 'replace-verification-code'],
  ],
  [
    'a verification',
    async (ctx, caller) => {
      const { id, code } = await givenChange(ctx, caller)
      return () => verify(caller, id, code)
    },
    [
      'find-callers',
      'judge-verification-code',
      'set-address',
      'close-verified-change',
      'add-event',
      'add-audit',
      'add-notices',
      'end-sessions-but-two',
    ],
  ],
  [
    'a preview',
    async (_ctx, caller) => () => call(caller, 'previewWithdrawal'),
    ['find-callers', 'take-places', 'find-blockers', 'preview-withdrawal'],
  ],
  [
    'a change of the password',
    async (_ctx, caller) => () =>
      call(caller, 'changePassword', {
        body: { current_password: caller.password, new_password: 'a new password' },
      }),
    [
      'find-callers',
      'take-places',
      'find-password',
      'give-places-back',
      'lock-proven-account',
      'find-live-account',
      'take-places-inside',
      'set-password',
      'end-access',
      'add-event',
      'add-audit',
      'add-notices',
    ],
  ],
  [
    'a request for a password reset',
    async (_ctx, caller) => () => call(caller, 'requestPasswordReset', { body: { email: caller.email } }),
    ['take-places', 'request-link', 'account-to-mail'],
  ],
  [
    'a withdrawal',
    async (ctx, caller) => {
      // The start makes the key, and the process caches it.
      await signingKey(ctx)
      // The withdrawals of one moment share the statement that writes their lines.
      ctx.waitsForLedger = false
      return () => withdraw(caller)
    },
    [
      'find-callers',
      'lock-account',
      'find-live-account',
      'find-blockers',
      'replaced-addresses',
      'take-places-inside',
      'end-account-access',
      'drop-unsent-notices',
      'plan-withdrawal',
      'plan-deletion-steps',
      'record-withdrawal-request',
      'add-audit',
      'withdrawal-event-receivers',
      'queue-withdrawal-messages',
      'add-notices',
    ],
  ],
]

test.each(operations)(
  '%s sends only the listed statements to the database before it answers',
  async (_what, prepare, expected) => {
    const ctx = await givenService()
    const caller = await givenCaller(ctx)
    const run = await prepare(ctx, caller)
    // This call writes the last use of the token, so that the next call within a minute does not.
    await call(caller, 'getEmailStatus')
    await ctx.settle()
    const { sql, transact } = ctx
    const names: string[] = []
    const noting =
      (run: Service['sql']): Service['sql'] =>
      (statement, values) => {
        names.push(statement.name.replace(/-by-.*/, ''))
        return run(statement, values)
      }
    Object.assign(ctx, {
      // The event for the engine is sent beside the answer.
      emit: null,
      sql: noting(sql),
      transact: wrapping(transact, noting),
    })
    expect((await run()).code).toBe('accepted')
    expect(names, 'If a call is meant to send these statements, list them at its row of `operations`.').toEqual(
      expected,
    )
  },
)
