import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createDedupeFetch } from 'next/dist/server/lib/dedupe-fetch'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ArchiveStore } from '@/domain/ports'
import { listening } from '@/testing/listening'
import { createArchiveStore, inBucket, inDirectory } from './object-store'

test('a directory keeps one file for each archive, and deleting an archive twice is no error', async () => {
  const parent = await mkdtemp(path.join(tmpdir(), 'archives-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const archiveDir = path.join(parent, 'archives')
  const store = createArchiveStore({ archiveDir, archiveS3: undefined }) as ArchiveStore
  expect(await store.exists('arc_1.bin')).toBe(false)
  await store.put('arc_1.bin', Buffer.from('sealed'))
  expect(await readFile(path.join(archiveDir, 'arc_1.bin'), 'utf8')).toBe('sealed')
  expect(await store.exists('arc_1.bin')).toBe(true)
  await store.delete('arc_1.bin')
  expect(await store.exists('arc_1.bin')).toBe(false)
  await store.delete('arc_1.bin')
  expect(await readdir(archiveDir)).toEqual([])
})

test('a directory that hangs refuses each call in time, leaves threads to others, and serves again', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'archives-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const pipe = path.join(directory, 'pipe')
  // It opens for a reader once there is a writer.
  execFileSync('mkfifo', [pipe])
  const store = inDirectory(directory, { hasManyWriters: true, timeoutMs: 200 })
  const reads = await Promise.allSettled(Array.from({ length: 10 }, () => store.get('pipe')))
  for (const read of reads) expect(read).toMatchObject({ reason: { code: 'object_store_timeout' } })
  await writeFile(pipe, '')
  await expect.poll(() => store.get('file').catch(() => 'refused')).toBeNull()
})

test('without a directory and a bucket there is no archive store', () => {
  expect(createArchiveStore({ archiveDir: undefined, archiveS3: undefined })).toBeNull()
})

/** An S3 server that accepts only signed requests. */
async function givenS3() {
  const objects = new Map<string, Buffer>()
  const answers: number[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const signed =
      /^AWS4-HMAC-SHA256 Credential=key-id\/\d{8}\/eu-test-1\/s3\/aws4_request, SignedHeaders=.*, Signature=[0-9a-f]{64}$/
    const hash = request.headers['x-amz-content-sha256']
    const intact = hash === 'UNSIGNED-PAYLOAD' || hash === createHash('sha256').update(body).digest('hex')
    const url = request.url ?? ''
    const isSigned = signed.test(request.headers.authorization ?? '') && intact
    const isThere = request.headers['if-none-match'] === '*' && objects.has(url)
    const status = answers.shift() ?? (isSigned ? (isThere ? 412 : 200) : 403)
    if (status === 200 && request.method === 'PUT') objects.set(url, body)
    const { method } = request
    const [place = '', query] = url.split('?')
    if (status === 200 && method === 'GET' && query) {
      const params = new URLSearchParams(query)
      const all = [...objects.keys()].map((key) => key.slice(place.length + 1)).sort()
      const left = all.filter(
        (key) => key.startsWith(params.get('prefix') ?? '') && key > (params.get('start-after') ?? ''),
      )
      // One key per page.
      const isTruncated = `<IsTruncated>${left.length > 1}</IsTruncated>`
      const keys = left.slice(0, 1).map((key) => `<Contents><Key>${key}</Key></Contents>`)
      const page = `<ListBucketResult>${isTruncated}${keys}</ListBucketResult>`
      return void response.writeHead(place === '/copies' ? 200 : 404).end(page)
    }
    const content = method === 'GET' && status === 200 ? objects.get(url) : undefined
    if (content) return void response.writeHead(200).end(content)
    const found =
      method === 'DELETE' ? objects.delete(url) : !['HEAD', 'GET'].includes(method ?? '') || objects.has(url)
    response.writeHead(status === 200 && !found ? 404 : status).end()
  })
  const port = await listening(server)
  onTestFinished(() => void server.close())
  const endpoint = `http://127.0.0.1:${port}`
  const keys = { accessKeyId: 'key-id', secretAccessKey: 'secret' }
  const settings = { endpoint, bucket: 'copies', region: 'eu-test-1', ...keys }
  return { objects, answers, settings, store: inBucket(settings) }
}

test('requests to a bucket are signed', async () => {
  const { objects, settings } = await givenS3()
  const store = createArchiveStore({ archiveDir: undefined, archiveS3: settings }) as ArchiveStore
  await store.put('arc_1.bin', Buffer.from('sealed'))
  expect([...objects]).toEqual([['/copies/arc_1.bin', Buffer.from('sealed')]])
  expect([await store.exists('arc_1.bin'), await store.exists('arc_2.bin')]).toEqual([true, false])
  await store.delete('arc_1.bin')
  await store.delete('arc_1.bin')
  expect(objects.size).toBe(0)
})

test('a bucket takes an object that is added once, and one that knows no conditions takes it as any other', async () => {
  const { answers, objects, store } = await givenS3()
  const addTwice = async (name: string) => [
    await store.add(name, Buffer.from('first')),
    await store.add(name, Buffer.from('other')),
  ]
  expect(await addTwice('log/1')).toEqual([true, false])
  expect(String(objects.get('/copies/log/1'))).toBe('first')
  answers.push(501, 501, 501)
  expect(await addTwice('log/2')).toEqual([true, true])
  expect(String(objects.get('/copies/log/2'))).toBe('other')
  answers.push(403)
  await expect(store.add('log/3', Buffer.from('first'))).rejects.toMatchObject({ code: 'object_store_403' })
})

test('a bucket that refuses a deletion or a look-up is an error, so that the step fails', async () => {
  const { answers, store } = await givenS3()
  for (const ask of [store.delete, store.exists]) {
    answers.push(403)
    await expect(ask('arc_1.bin')).rejects.toMatchObject({ code: 'object_store_403' })
  }
})

test('a bucket that does not answer is named with the reason', async () => {
  const { settings } = await givenS3()
  const away = inBucket({ ...settings, endpoint: 'http://127.0.0.1:2' })
  await expect(away.get('log/1')).rejects.toMatchObject({
    message: 'The bucket http://127.0.0.1:2/copies does not answer: ECONNREFUSED.',
    code: 'object_store_ECONNREFUSED',
  })
})

test('a bucket lists its objects page by page in their order, and reads them', async () => {
  const { store: bucket } = await givenS3()
  for (const name of ['log/2', 'log/1', 'log/3', 'other']) await bucket.put(name, Buffer.from(`lines of ${name}`))
  const listed = async (after?: string) => {
    const names: string[] = []
    for await (const name of bucket.list('log/', after)) names.push(name)
    return names
  }
  expect(await listed()).toEqual(['log/1', 'log/2', 'log/3'])
  expect(await listed('log/1')).toEqual(['log/2', 'log/3'])
  expect(String(await bucket.get('log/2'))).toBe('lines of log/2')
  expect(await bucket.get('log/4')).toBeNull()
})

test('a bucket answers whether Next copies the bodies of answers, as it does in a process that serves pages', async () => {
  const { store } = await givenS3()
  vi.stubGlobal('fetch', createDedupeFetch(fetch))
  onTestFinished(() => void vi.unstubAllGlobals())
  expect([await store.get('none'), await store.exists('none')]).toEqual([null, false])
  await store.put('one', Buffer.from('content'))
  expect(String(await store.get('one'))).toBe('content')
})

test('a missing bucket is an error and not an empty list', async () => {
  const { settings } = await givenS3()
  const bucket = inBucket({ ...settings, bucket: 'none' })
  const names = bucket.list('log/')[Symbol.asyncIterator]()
  await expect(names.next()).rejects.toMatchObject({ code: 'object_store_404' })
})

test('a page, half a list or a redirect in place of the answer of a bucket is an error', async () => {
  const page = '<html><body>Please sign in</body></html>'
  const half = '<ListBucketResult><Contents><Key>log/1</Key></Contents><IsTruncated>fal'
  const endless = '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>'
  let list = page
  const server = createServer((request, response) => {
    request.resume()
    if (request.url?.startsWith('/copies/')) response.writeHead(303, { Location: '/sign-in' }).end()
    else response.writeHead(200).end(request.url === '/sign-in' ? page : list)
  })
  const port = await listening(server)
  onTestFinished(() => void server.close())
  const store = inBucket({ ...(await givenS3()).settings, endpoint: `http://127.0.0.1:${port}` })
  const content = Buffer.from('sealed')
  for (const call of [
    () => store.put('a', content),
    () => store.add('a', content),
    () => store.get('a'),
    () => store.exists('a'),
    () => store.delete('a'),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'object_store_303' })
  for (list of [page, half, endless]) {
    await expect(store.list('log/')[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'object_store_no_list',
    })
  }
})
