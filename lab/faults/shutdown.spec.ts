import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { Instance } from '@/testing/instance'
import { takesConnections } from '@/testing/listening'
import { MailServer } from '@/testing/mail-server'
import { Operator } from '@/testing/operator'
import { changeEmail, emailStatus, givenPlainPerson, type Person } from '@/testing/person'
import { FAULTS_DIR } from '@/testing/run-directory'
import { until } from '@/testing/until'

test('F4 SIGTERM during load lets running requests finish, exits with 0 and stops PostgreSQL with all data kept', async ({
  onTestFinished,
}) => {
  const mail = await MailServer.start()
  const dataDir = path.join(FAULTS_DIR, `shutdown-${randomBytes(6).toString('hex')}`)
  const settings = { DATA_DIR: dataDir, SMTP_URL: mail.url, READ_LIMIT: '1000000' }
  const first = await Instance.start(settings)
  onTestFinished(async () => {
    if (first.isRunning) await first.stop()
    await mail.goAway()
  })
  const operator = new Operator(settings)
  const people: Person[] = []
  for (let count = 0; count < 4; count++) people.push(await givenPlainPerson({ operator }))
  await operator.close()

  const answerMails = mail.hold()
  const changes = people.map((person) => changeEmail(first, person))
  await until('all changes wait for the mail server', () => mail.waiting === people.length)
  let isStopping = false
  const failures: unknown[] = []
  const statuses = new Map<number, number>()
  const load = people.map(async (person) => {
    while (!isStopping || first.isRunning) {
      try {
        const { status } = await emailStatus(first, person)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      } catch (error) {
        if (!isStopping) failures.push(error)
        else return
      }
    }
  })
  await until('the load runs', () => (statuses.get(200) ?? 0) > 200)

  isStopping = true
  const exit = first.stop()
  await until('new connections are refused', async () => !(await takesConnections(Number(new URL(first.url).port))))
  expect(first.isRunning).toBe(true)
  answerMails()
  const answers = await Promise.all(changes)
  expect(answers.map(({ status }) => status)).toEqual(people.map(() => 200))
  // The header makes a proxy send its next request elsewhere.
  expect(answers.map(({ headers }) => headers.get('Connection'))).toEqual(people.map(() => 'close'))
  expect(await exit).toBe(0)
  await Promise.all(load)
  expect(failures).toEqual([])
  expect([...statuses.keys()]).toEqual([200])
  expect(existsSync(path.join(dataDir, 'pg/postmaster.pid'))).toBe(false)

  const second = await Instance.start(settings)
  onTestFinished(async () => {
    await second.stop()
  })
  for (const [index, person] of people.entries()) {
    const { body } = await emailStatus(second, person)
    expect(body.data.pending_change.change_request_id).toBe(answers[index]?.body.data.change_request_id)
  }
})

test('F4 an instance that gets SIGTERM is not ready at once, and serves new connections until DRAIN_TIME is over', async ({
  onTestFinished,
}) => {
  const mail = await MailServer.start()
  const dataDir = path.join(FAULTS_DIR, `drain-${randomBytes(6).toString('hex')}`)
  const settings = { DATA_DIR: dataDir, SMTP_URL: mail.url, DRAIN_TIME: 'PT1H' }
  const instance = await Instance.start(settings)
  onTestFinished(async () => {
    if (instance.isRunning) await instance.kill()
    await mail.goAway()
  })
  const operator = new Operator(settings)
  const person = await givenPlainPerson({ operator })
  await operator.close()
  // Each call is a connection of its own.
  const ask = (to: string) => fetch(`${instance.url}${to}`, { headers: { Connection: 'close' } })
  expect((await fetch(`${instance.url}/api/health/ready`)).headers.get('Keep-Alive')).toBe('timeout=75')

  instance.signal('SIGTERM')
  await until('the instance is not ready', async () => {
    const answer = await ask('/api/health/ready')
    return answer.status === 503 && (await answer.json()).reason === 'stopping'
  })
  const { status, headers } = await emailStatus(instance, person)
  expect([status, headers.get('Connection')]).toEqual([200, 'close'])
  expect((await ask('/sign-in')).status).toBe(200)
  instance.signal('SIGTERM')
  expect((await ask('/api/health/live')).status).toBe(200)
  // A person at the terminal does not wait.
  instance.signal('SIGINT')
  expect(await instance.end()).toBe(0)
})
