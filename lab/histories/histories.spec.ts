import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { expectGoodTrace } from '@/testing/traces'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'
import { Clients, HISTORY_KINDS, HISTORY_SETTINGS, judge } from './clients'

const CALLS = Number(process.env.CALLS || 100_000)

interface Line {
  account: string
  kind: string
  outcome: string
  code?: string
  seen?: { address: number; pending: number }
}

const isOk = (kind: string) => (line: Line) => line.kind === kind && line.outcome === 'ok'

/** Wrong answers to put into a right history: the line to change, and its new content. */
const TAMPERED: Record<string, { where(line: Line, before: Line[]): boolean; becomes: Partial<Line> }> = {
  'a person who is served after the withdrawal': {
    where: ({ kind, outcome }, before) => kind === 'status' && outcome === 'refused' && before.some(isOk('withdraw')),
    becomes: { outcome: 'ok', code: undefined, seen: { address: 0, pending: 0 } },
  },
  'a second withdrawal': {
    where: ({ code }) => code === 'WITHDRAWAL_002',
    becomes: { outcome: 'ok', code: undefined },
  },
  'a code that is wrong or superseded, and verifies': {
    where: ({ kind, code }) => kind === 'verify' && (code === 'EMAIL_003' || code === 'EMAIL_006'),
    becomes: { outcome: 'ok', code: undefined },
  },
  'a sixth attempt that is judged': {
    where: ({ code }) => code === 'EMAIL_005',
    becomes: { code: 'EMAIL_003' },
  },
  'an undo of what was undone': {
    where: ({ kind, code }) => kind === 'undo' && code === 'EMAIL_006',
    becomes: { outcome: 'ok', code: undefined },
  },
  'a pending change that is not told': {
    where: (line) => isOk('status')(line) && line.seen?.pending !== 0,
    becomes: { seen: { address: 0, pending: 0 } },
  },
  'an old password that still opens': {
    where: ({ code }) => code === 'EMAIL_007',
    becomes: { outcome: 'ok', code: undefined },
  },
}

test('F8 every answer under load on two instances fits one order of the calls of its account', {
  timeout: 30 * 60_000,
}, async (context) => {
  const world = await givenWorld(context, HISTORY_SETTINGS)
  await Promise.all([world.start(), world.start()])
  const startedAt = Date.now()
  const clients = new Clients(world, path.join(world.dataDir, 'history.ndjson'), { lives: 12 })
  await until('the calls are made', () => clients.calls >= CALLS, 25 * 60_000)
  await clients.stop()
  process.stdout.write(`${clients.calls} calls in ${Math.round((Date.now() - startedAt) / 1000)} s\n`)
  const { problems, ...judged } = await judge([clients.name])
  process.stdout.write(`${JSON.stringify(judged)}\n`)
  expect(problems.slice(0, 2)).toEqual([])
  expect(judged.calls).toBeGreaterThanOrEqual(CALLS)
  for (const { output } of world.instances) expect(output).not.toContain('unexpected_error')
  process.stdout.write(`${await expectGoodTrace(world, HISTORY_KINDS)} transitions\n`)

  const lines = readFileSync(clients.name, 'utf8').trimEnd().split('\n')
  const histories = Map.groupBy(
    lines.map((line): Line => JSON.parse(line)),
    ({ account }) => account,
  )
  for (const [what, { where, becomes }] of Object.entries(TAMPERED)) {
    const tampered = [...histories.values()].flatMap((history) => {
      const at = history.findIndex((line, index) => where(line, history.slice(0, index)))
      return at < 0 ? [] : [history.with(at, { ...(history[at] as Line), ...becomes })]
    })
    const found = tampered.slice(0, 20).map((history, index) => {
      const file = `${clients.name}-${index}`
      writeFileSync(file, history.map((line) => `${JSON.stringify(line)}\n`).join(''))
      return judge([file])
    })
    const judgements = await Promise.all(found)
    const refused = judgements.filter(({ problems }) => problems.some((problem) => problem.includes('Illegal')))
    process.stdout.write(`  ${what}: ${refused.length} of ${judgements.length}\n`)
    expect(refused.length, what).toBeGreaterThan(0)
  }
})
