import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listening } from '@/testing/listening'
import { createBreachedPasswords } from './breached-passwords'

const PASSWORD = 'pässwörd für ada'
const HASH = createHash('sha1').update(PASSWORD.normalize('NFKC')).digest('hex').toUpperCase()
const SUFFIX = HASH.slice(5)
const OTHERS = '00000000000000000000000000000000000:4\r\n'

/** A list that answers like this, and what it was sent. */
async function givenList(answer: RequestListener, now?: () => number) {
  const requests: { url?: string; padding?: unknown; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    requests.push({ url: request.url ?? '', padding: request.headers['add-padding'], body })
    answer(request, response)
  })
  const port = await listening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { list: createBreachedPasswords(`http://127.0.0.1:${port}/list`, now), requests }
}

async function ask(answer: RequestListener, password = PASSWORD) {
  const { list, requests } = await givenList(answer)
  return { has: await list.has(password), requests }
}
const says =
  (text: string, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(text)

test('B82 the list learns the first five characters of the hash and nothing else', async () => {
  const { has, requests } = await ask(says(`${OTHERS}${SUFFIX}:3`), PASSWORD.normalize('NFD'))
  expect(has).toBe(true)
  expect(requests).toEqual([{ url: `/list/range/${HASH.slice(0, 5)}`, padding: 'true', body: '' }])
})

test.each([
  ['a count of 0, which is padding', `${OTHERS}${SUFFIX}:0\r\n`, false],
  ['other hashes', OTHERS, false],
  ['a hash that only begins alike', `${SUFFIX}0:7`, false],
  ['small letters', `${OTHERS}${SUFFIX.toLowerCase()}:12\r\n`, true],
  ['a page of HTML', '<html>Sign in to the network</html>', false],
  ['nothing', '', false],
])('a list that tells %s is read right', async (_what, text, has) => {
  expect((await ask(says(text))).has).toBe(has)
})

test.each<[string, RequestListener]>([
  ['answers 500', says(`${SUFFIX}:3`, 500)],
  ['redirects', (_request, response) => void response.writeHead(302, { Location: '/list/range/00000' }).end()],
  ['cuts the connection', (request) => void request.socket.destroy()],
  ['sends without end', (_request, response) => void response.end(`${SUFFIX}:3\r\n`.repeat(20_000))],
  ['hangs', () => {}],
  [
    'hangs in the middle of its answer',
    (_request, response) => void response.writeHead(200).write(`${OTHERS}${SUFFIX}:3\r\n`),
  ],
])('B82 a list that %s has given no answer', async (_how, answer) => {
  expect((await ask(answer)).has).toBeNull()
})

test('B82 a range is kept for five minutes, so that one password that is tried again makes no further call', async () => {
  let now = 0
  const { list, requests } = await givenList(says(`${SUFFIX}:3`), () => now)
  for (let tries = 0; tries < 3; tries++) expect(await list.has(PASSWORD)).toBe(true)
  expect(requests).toHaveLength(1)
  now = 5 * 60_000
  expect(await list.has(PASSWORD)).toBe(true)
  expect(requests).toHaveLength(2)
})

test('B82 no answer is not kept: the next try asks again', async () => {
  let status = 500
  const { list } = await givenList((_request, response) => void response.writeHead(status).end(`${SUFFIX}:3`))
  expect(await list.has(PASSWORD)).toBeNull()
  status = 200
  expect(await list.has(PASSWORD)).toBe(true)
})

test('B82 200 ranges are kept at most, and the oldest goes first', async () => {
  const { list, requests } = await givenList(says(OTHERS))
  for (let number = 0; requests.length < 201; number++) await list.has(`password ${number}`)
  await list.has('password 0')
  expect(requests).toHaveLength(202)
})

test('B82 eight calls at most are made at once, and a password beyond them has no answer', async () => {
  const all = Promise.withResolvers<void>()
  const { list, requests } = await givenList(async (_request, response) => {
    await all.promise
    response.end(OTHERS)
  })
  const first = Array.from({ length: 8 }, (_, number) => list.has(`password ${number}`))
  expect(await list.has('one more')).toBeNull()
  all.resolve()
  expect(await Promise.all(first)).toEqual(Array(8).fill(false))
  expect(requests).toHaveLength(8)
  expect(await list.has('one more')).toBe(false)
})
