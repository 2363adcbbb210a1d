import { beforeEach, expect, test, vi } from 'vitest'

beforeEach(() => {
  vi.resetModules()
  return vi.unstubAllEnvs
})

/** An endpoint whose SDK is replaced by `handle`. */
async function givenEndpoint(handle: (request: never, context: never) => Promise<Response>) {
  const { engineOnly } = await import('./engine')
  const { POST } = engineOnly({ GET: handle, POST: handle, PUT: handle })
  return () => POST({} as never, {} as never)
}

const notJson = async () => JSON.parse('x')
const broken = async () => {
  throw new Error('broken')
}

test('without an engine the endpoint answers 404', async () => {
  const call = await givenEndpoint(notJson)
  expect((await call()).status).toBe(404)
})

test('a body that cannot be parsed is answered as unsigned; any other failure reaches the engine', async () => {
  vi.stubEnv('INNGEST_EVENT_KEY', 'key')
  vi.stubEnv('INNGEST_SIGNING_KEY', 'signkey-test-00')
  const refused = await (await givenEndpoint(notJson))()
  expect([refused.status, await refused.text()]).toEqual([401, ''])
  await expect((await givenEndpoint(broken))()).rejects.toThrow('broken')
})
