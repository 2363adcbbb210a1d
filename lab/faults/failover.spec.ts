import { renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { Cluster } from '@/testing/cluster'
import type { Instance } from '@/testing/instance'
import { emailStatus, givenPlainPerson, type Person, withdraw } from '@/testing/person'
import { runAt } from '@/testing/raw-sql'
import { expectGoodTrace, ledgerLinesOf } from '@/testing/traces'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'

// The copy has the state of the server before the withdrawal. A replica takes over on a timeline of its own; a base backup keeps it.

async function givenCopy(context: TestContext) {
  const cluster = await Cluster.start(context)
  const world = await givenWorld(context, {}, cluster.place)
  const [withdrawn, staying] = [await givenPlainPerson(world), await givenPlainPerson(world)]
  const putCopy = await cluster.keepCopy()
  return { cluster, world, withdrawn, staying, putCopy }
}

/** Every answer that the person's token gets, until the returned function is called. */
function askAlways(instances: Instance[], person: Person): () => Promise<number[]> {
  let isOver = false
  const asking = instances.map(async (instance) => {
    const statuses: number[] = []
    while (!isOver) statuses.push((await emailStatus(instance, person)).status)
    return statuses
  })
  return async () => {
    isOver = true
    return (await Promise.all(asking)).flat()
  }
}

test.for([
  ['replica', undefined],
  ['backup', undefined],
  ['backup', (url: string) => runAt(url, 'CREATE TABLE further (line int)', 'SELECT pg_switch_wal()')],
] as const)(
  'F43 F60 a withdrawal that a %s does not know holds again without a restart, and its token is never served',
  async ([as, meanwhile], context) => {
    const { cluster, world, withdrawn, staying, putCopy } = await givenCopy(context)
    const instances = [await world.start(), await world.start()]
    const [instance] = instances as [Instance]
    const { status, body } = await withdraw(instance, withdrawn)
    expect(status).toBe(202)

    const stopAsking = askAlways(instances, withdrawn)
    await putCopy(as, meanwhile)
    expect(await world.query('SELECT FROM users WHERE id = $1 AND withdrawn_at IS NULL', [withdrawn.id])).toHaveLength(
      1,
    )
    for (const one of instances) {
      await until('its people are served', async () => (await emailStatus(one, staying)).status === 200)
    }
    expect((await stopAsking()).filter((status) => status !== 401 && status !== 503)).toEqual([])
    for (const one of instances) {
      expect((await emailStatus(one, withdrawn)).status).toBe(401)
      await until('it is ready', async () => (await one.readiness()).status === 200)
    }
    expect(instances.map(({ output }) => output).join('')).toContain('"event":"database_had_lost_withdrawals"')
    expect(await world.query('SELECT id FROM withdrawals')).toEqual([{ id: body.data.withdrawal_id }])
    const receipts = await instance.call({
      path: `/api/v1/withdrawals/${body.data.withdrawal_id}/receipts`,
      token: body.data.status_token,
      scope: 'account:manage',
    })
    expect(receipts.body.data.receipts[0]).toMatchObject({ kind: 'acceptance' })
    expect(ledgerLinesOf(world)).toHaveLength(1)

    // Only the ledger shows whether the same database has lost something.
    const ledger = path.join(world.dataDir, 'ledger')
    renameSync(ledger, `${ledger}-away`)
    writeFileSync(ledger, '')
    await cluster.goDown('killed')
    await cluster.comeUp()
    await until('it is held', async () => (await instance.readiness()).body.reason === 'ledger_away')
    rmSync(ledger)
    renameSync(`${ledger}-away`, ledger)
    await until('its people are served', async () => (await emailStatus(instance, staying)).status === 200)
    expect(await expectGoodTrace(world, ['account.withdrawn'])).toBe(1)
  },
)
