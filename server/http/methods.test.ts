import { expect, test } from 'vitest'
import { refuseOtherMethods } from './methods'

const answer = (text: string) => async () => new Response(text)

test('each handler answers its method, GET answers HEAD too, and a 405 names the methods', async () => {
  const route = refuseOtherMethods({ GET: answer('read'), POST: answer('done') })
  const outcomes = Object.entries(route).map(async ([method, handle]) => {
    const response = await (handle as () => Promise<Response>)()
    return [method, response.status, (await response.text()) || response.headers.get('Allow')]
  })
  expect(await Promise.all(outcomes)).toEqual([
    ['GET', 200, 'read'],
    ['HEAD', 200, 'read'],
    ['POST', 200, 'done'],
    ['PUT', 405, 'GET, HEAD, POST'],
    ['PATCH', 405, 'GET, HEAD, POST'],
    ['DELETE', 405, 'GET, HEAD, POST'],
    ['OPTIONS', 405, 'GET, HEAD, POST'],
  ])
})

test('without GET, HEAD is not allowed either', () => {
  expect((refuseOtherMethods({ POST: answer('done') }).HEAD as () => Response)().headers.get('Allow')).toBe('POST')
})
