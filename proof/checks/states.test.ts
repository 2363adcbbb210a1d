import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DELIVERY_STATES } from '@/contract/apps'
import { WITHDRAWAL_STATES } from '@/contract/operator'
import { TASK_STATES } from '@/contract/tasks'
import { CHANGE_STATES } from '@/contract/vocabulary'
import { STEP_STATUSES } from '@/contract/withdrawal'
import { MAIL_STATES } from '@/domain/accounts/mail-events'
import { KEY_STATES } from '@/domain/withdrawal/receipts/signing-keys'
import { EmailChangeStatus } from '@/prisma/generated/enums'

const schema = readFileSync('prisma/schema.prisma', 'utf8')

/** A notice is what its times say, but `expiresAt`, which only bounds the tries. */
const noticeStates = () => {
  const [, model = ''] = /^model Notice \{\n(.*?)^\}/ms.exec(schema) ?? []
  return [...model.matchAll(/^ {2}(\w+)At +DateTime\?/gm)].map(([, name]) => name).filter((name) => name !== 'expires')
}

/** The states of each machine that the code knows. */
const KNOWN: Record<string, readonly unknown[]> = {
  'E-mail change': CHANGE_STATES,
  Withdrawal: WITHDRAWAL_STATES,
  'Deletion step': STEP_STATUSES,
  'Deletion task': TASK_STATES,
  'Event delivery': DELIVERY_STATES,
  Notice: noticeStates(),
  Mail: MAIL_STATES,
  'Signing key': KEY_STATES,
}

const sections = readFileSync('docs/states.md', 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const words = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word as string)
    const rows = [...section.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$/gm)].filter(([, from]) =>
      /^[`–]/.test(from ?? ''),
    )
    return {
      title: section.split('\n', 1)[0] ?? '',
      drawn: [...section.matchAll(/^ {2}(\S+) --> (\S+)$/gm)].map(([, from, to]) => `${from} ${to}`),
      moves: rows.flatMap(([, from, , to]) =>
        (from === '–' ? ['[*]'] : words(from)).flatMap((one) => words(to).map((other) => `${one} ${other}`)),
      ),
      states: rows.flatMap(([, from, , to]) => [...words(from), ...words(to)]),
      files: rows.flatMap(([, , , , where]) => words(where)),
    }
  })

test('docs/states.md has every machine', () => {
  expect(sections.map(({ title }) => title)).toEqual(Object.keys(KNOWN))
})

test.each(sections)('$title has in docs/states.md exactly the states that the code knows', ({ title, states }) => {
  expect(new Set(states)).toEqual(new Set(KNOWN[title]))
})

test.each(sections)(
  '$title: the picture in docs/states.md shows the moves of its table, and files that exist',
  (section) => {
    expect(new Set(section.drawn)).toEqual(new Set(section.moves))
    for (const file of section.files) expect(existsSync(`domain/${file}`), file).toBe(true)
  },
)

test('a stored state of a change is one that its database type knows, and the others stand in italics', () => {
  const derived = [...readFileSync('docs/states.md', 'utf8').matchAll(/\*`(\w+)`\*/g)].map(([, state]) => state)
  const stored = CHANGE_STATES.filter((state) => !derived.includes(state))
  expect(stored.sort()).toEqual(Object.values(EmailChangeStatus).sort())
})
