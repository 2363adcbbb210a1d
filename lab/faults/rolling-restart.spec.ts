import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { freePort } from '@/testing/listening'
import { givenPlainPerson } from '@/testing/person'
import { skip } from '@/testing/skip'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'
import { hasHaProxy, startHaProxy } from './haproxy'

const CLIENTS = 8

test('F4 no request fails while each of two instances behind a load balancer is restarted in turn', async (context) => {
  if (!hasHaProxy) return skip(context, 'HAProxy is not installed (HAPROXY)')
  const world = await givenWorld(context, { READ_LIMIT: '1000000', DRAIN_TIME: 'PT3S' })
  const ports = [String(await freePort()), String(await freePort())]
  const proxy = await startHaProxy(context, {
    first: `127.0.0.1:${ports[0]}`,
    second: `127.0.0.1:${ports[1]}`,
  })
  const instances = [await world.start({ PORT: ports[0] as string }), await world.start({ PORT: ports[1] as string })]
  await proxy.untilUp('first')
  await proxy.untilUp('second')
  const person = await givenPlainPerson(world)

  let isOver = false
  const answers: (number | string)[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  context.onTestFinished(() => agent.destroy())
  /** Half of the requests come over connections of their own. */
  const ask = (own: boolean) =>
    new Promise<number | string>((resolve) => {
      const headers = { Authorization: `Bearer ${person.token}`, 'X-Required-Scope': 'email:manage' }
      const url = `${proxy.url}/api/v1/users/${person.id}/email/status`
      request(url, { headers, agent: own ? false : agent }, (incoming) => {
        incoming.resume().once('end', () => resolve(incoming.statusCode ?? 0))
      })
        .once('error', ({ message }) => resolve(message))
        .end()
    })
  const load = Array.from({ length: CLIENTS }, async (_, client) => {
    while (!isOver) answers.push(await ask(client % 2 === 0))
  })
  const untilMore = async () => {
    const before = answers.length
    await until('the load goes on', () => answers.length > before + 200)
  }

  await untilMore()
  for (const [index, name] of ['first', 'second'].entries()) {
    expect(await instances[index]?.stop()).toBe(0)
    await untilMore()
    await world.start({ PORT: ports[index] as string })
    await proxy.untilUp(name)
    await untilMore()
  }
  isOver = true
  await Promise.all(load)
  expect(answers.filter((answer) => answer !== 200)).toEqual([])
})
