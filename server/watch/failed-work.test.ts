import { expect, onTestFinished, test } from 'vitest'
import { processState } from '@/server/process-state'
import { logFailedWork } from './failed-work'
import { createLog } from './log'

const AWAY = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })

function given(database: () => string) {
  const events: string[] = []
  const { log, health } = processState
  processState.log = createLog('info', { write: (line) => void events.push(JSON.parse(line).event) })
  processState.health = async () => ({
    reason: undefined,
    parts: { database: database(), mail: 'ok', engine: 'timer', ledger: 'ok' },
    degraded: [],
  })
  onTestFinished(() => void Object.assign(processState, { log, health }))
  return events
}

test('while the database is away, failing work is one line, and one says that it is back', async () => {
  let database = 'away'
  const events = given(() => database)
  const logging = logFailedWork('due_work_failed', AWAY)
  await logFailedWork('due_work_failed', AWAY)
  await logFailedWork('background_task_failed', AWAY)
  expect(events).toEqual(['database_away'])
  database = 'ok'
  await logging
  expect(events).toEqual(['database_away', 'database_back'])
})

test('work that fails while the database is there is told each time, also where something else refused the connection', async () => {
  const events = given(() => 'ok')
  await logFailedWork('due_work_failed', AWAY)
  await logFailedWork('background_task_failed', new Error('broken'))
  expect(events).toEqual(['due_work_failed', 'background_task_failed'])
})
