import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { SystemContext } from '@/domain/context'
import { macOfCode } from '@/domain/email/verification-code'
import { createSecrets } from '@/server/adapters/secrets'
import { Cluster } from '@/testing/cluster'
import { givenPeople } from '@/testing/people'
import { type Person, verifyEmail, withdraw } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, KEYS, type World } from '@/testing/world'

test('F26 L17 every acknowledged write survives a kill of PostgreSQL, even with synchronous_commit off by default', async (context) => {
  const cluster = await Cluster.start(context)
  const world = await givenWorld(context, { WITHDRAWAL_TIME_SCALE: '1' }, cluster.place)
  const name = new URL(world.databaseUrl).pathname.slice(1)
  // Left to itself, the server would write its log ten seconds later.
  await world.query(`ALTER DATABASE ${name} SET synchronous_commit = off`)
  await world.query(`ALTER SYSTEM SET wal_writer_delay = '10s'`)
  await world.query('SELECT pg_reload_conf()')
  expect(await world.query('SHOW fsync')).toEqual([{ fsync: 'on' }])
  const instance = await world.start()
  const people = await givenPeople(world, 40)
  await world.query('CHECKPOINT')
  const withdrawn = people.slice(0, 20)
  const changing = await givenChanges(world, people.slice(20))

  const answered = new Set<string>()
  const calls = [
    ...withdrawn.map((person) => [person.id, () => withdraw(instance, person)] as const),
    ...changing.map(
      ({ person, request, code }) => [person.id, () => verifyEmail(instance, person, { request, code })] as const,
    ),
  ]
  // One call runs on each connection.
  const queue = calls.values()
  const worker = async () => {
    for (const [id, call] of queue) {
      const { status } = await call()
      if (status < 300) answered.add(id)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  await cluster.goDown('killed')
  expect(answered.size).toBe(calls.length)

  await cluster.comeUp()
  const kept = await until('the data can be read', () =>
    world.query<{ id: string }>(
      `SELECT id FROM users WHERE email LIKE 'new-%' OR id IN (SELECT user_id FROM withdrawals)`,
    ),
  )
  expect(new Set(kept.map(({ id }) => id))).toEqual(answered)
})

/** Changes that await their code, as the service writes them. */
async function givenChanges(world: World, people: Person[]) {
  const secrets = createSecrets({ auth: [KEYS.AUTH_SECRET], code: [KEYS.CODE_SECRET] })
  const changes = people.map((person) => {
    const request = `ecr_${randomBytes(16).toString('base64url')}`
    const code = secrets.randomCode()
    const mac = macOfCode({ secrets } as SystemContext, request, code)
    return { person, request, code, mac }
  })
  await world.query(
    `INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac,
                                        requested_at, request_ip, sent_at, expires_at)
     SELECT c.id, u.id, 'pending_verification', 'email_code', u.email, c.email, c.email, c.mac, now(), '', now(), now() + interval '1 h'
     FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) AS c (id, user_id, email, mac) JOIN users u ON u.id = c.user_id`,
    [
      changes.map(({ request }) => request),
      changes.map(({ person }) => person.id),
      changes.map(({ person }) => person.newEmail),
      changes.map(({ mac }) => mac),
    ],
  )
  return changes
}
