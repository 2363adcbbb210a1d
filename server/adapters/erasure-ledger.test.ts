import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createErasureLedger } from './erasure-ledger'

test('a partial line that a full disk or a kill left behind damages no other line', async ({ onTestFinished }) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'ledger-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const ledger = createErasureLedger({ dataDir })
  const entry = (withdrawalId: string) => ({
    withdrawalId,
    pseudonym: 'p',
    startedAt: '2026-11-20T09:00:00.000Z',
    keeps: { analytics: false, auditLogs: false, transactionHistory: false },
  })
  expect(await ledger.read()).toEqual([])
  await ledger.append([entry('wd_1')])
  await appendFile(path.join(dataDir, 'erasure-ledger.ndjson'), JSON.stringify(entry('wd_2')).slice(0, 20))
  await ledger.append([entry('wd_2'), entry('wd_3')])
  expect((await ledger.read()).map(({ withdrawalId }) => withdrawalId)).toEqual(['wd_1', 'wd_2', 'wd_3'])
})
