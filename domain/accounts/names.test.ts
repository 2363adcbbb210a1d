import { expect, test } from 'vitest'
import { sendDueNotices } from '@/domain/mail/notice-queue'
import { NOTICE_KINDS } from '@/domain/notices'
import { renderMessage } from '@/server/adapters/messages'
import { getEnv } from '@/server/settings/env'
import { call, change } from '@/testing/api-calls'
import { givenCaller, givenServiceOf, givenServiceToken } from '@/testing/callers'
import { installed } from '@/testing/install-context'
import { outcomeOf } from '@/testing/outcomes'
import { exportUsers } from './export-users'
import { readImportLine } from './import-line'
import { createUser } from './user'

const REFUSED = {
  'a line separator': 'Ada\u2028Your account was hacked, call 123',
  'a paragraph separator': 'Ada\u2029Lovelace',
  'a line feed': 'Ada\nLovelace',
  'a control character': 'Ada\u0085',
  'blanks alone': ' \u3000',
  'a zero-width space alone': '\u200b',
  'joiners alone': '\u200d\u200c',
  'a Hangul filler alone': '\u3164',
  'an empty Braille cell alone': '\u2800',
  'a right-to-left override': 'Ada \u202eecalevoL',
  'an isolate': '\u2067Ada\u2069',
  'a direction mark': 'Ada\u200f',
  'an Arabic letter mark': '\u061cAda',
  'tag characters': `Ada${[...'gift'].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join('')}`,
}
const ACCEPTED = [
  'Ada Lovelace',
  'می‌خواهم',
  'क्‍ष',
  '👩‍🔬 Ada',
  'O’Neill-Åström',
  '李',
  'Ada\u00ad',
  '#1',
  'Dr. J.R.R. Tolkien',
]

test('B66 each way to write a name refuses what is not one line with something to see', async () => {
  const ctx = await installed()
  const service = await givenServiceToken(ctx)
  let people = 0
  const ways: Record<string, (name: string) => Promise<unknown>> = {
    async PUT(name) {
      const externalId = `named-${people++}`
      const body = { email: `${externalId}@example.test`, name }
      return (await call(service, 'putUser', { ids: { externalId }, body })).code
    },
    async import(name) {
      const line = { external_id: 'imported', email: 'imported@example.test', name }
      return readImportLine(JSON.stringify(line), ctx.clock.now()).problems[0]?.code ?? 'accepted'
    },
    command: (name) =>
      outcomeOf(
        createUser(ctx, {
          email: `made-${people++}@example.test`,
          name,
          password: 'a long password',
          emailVerified: true,
        }),
      ),
  }
  for (const [way, write] of Object.entries(ways)) {
    for (const [what, name] of Object.entries(REFUSED)) {
      expect([way, what, await write(name)]).toEqual([way, what, 'REQUEST_001'])
    }
    for (const name of ACCEPTED) expect([way, name, await write(name)]).toEqual([way, name, 'accepted'])
  }
})

test('B66 a stored name that breaks the rule is read and exported as it is, and its letters go out without it', async () => {
  const ctx = await installed()
  for (const name of [...Object.values(REFUSED), '', 'x'.repeat(2_000)]) {
    const caller = await givenCaller(ctx)
    const service = await givenServiceOf(ctx, caller)
    await ctx.db.user.update({ where: { id: caller.userId }, data: { name } })
    expect((await service('getUser')).data).toMatchObject({ name })
    expect((await service('putUser', { locale: 'de' })).code).toBe('accepted')
    expect((await call(caller, 'getEmailStatus')).code).toBe('accepted')
    expect((await call(caller, 'exportData')).status).toBe(200)
    expect((await change(caller, `new-${caller.email}`)).code).toBe('accepted')
    await ctx.settle()
    expect(ctx.mailbox.splice(0).map(({ to }) => to)).toEqual(
      expect.arrayContaining([caller.email, `new-${caller.email}`]),
    )
    await sendDueNotices(ctx, NOTICE_KINDS)
  }
  const exported: unknown[] = []
  for await (const rows of exportUsers(ctx)) exported.push(...rows)
  expect(exported).toEqual(expect.arrayContaining([expect.objectContaining({ name: REFUSED['a line separator'] })]))

  const at = ctx.clock.now()
  const reset = {
    template: 'password-reset',
    link: 'x',
    requestedAt: at,
    endsAt: at,
    ipAddress: '',
    userAgent: '',
  } as const
  for (const userName of Object.values(REFUSED)) {
    expect((await renderMessage({ ...reset, userName }, null, getEnv())).text).toContain('\nHello,\n')
  }
})
