import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createArchiveStore } from './archive-store'

test('a directory keeps one file an archive, and deleting twice is no error', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'archives-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const store = createArchiveStore({ dataDir, archiveS3: undefined })
  await store.put('arc_1.bin', Buffer.from('sealed'))
  expect(await readFile(path.join(dataDir, 'archives', 'arc_1.bin'), 'utf8')).toBe('sealed')
  await store.delete('arc_1.bin')
  await store.delete('arc_1.bin')
  expect(await readdir(path.join(dataDir, 'archives'))).toEqual([])
})

/** Keeps objects, and takes signed requests only. */
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
    const status = answers.shift() ?? (signed.test(request.headers.authorization ?? '') && intact ? 200 : 403)
    if (status === 200 && request.method === 'PUT') objects.set(url, body)
    const found = request.method === 'DELETE' ? objects.delete(url) : true
    response.writeHead(status === 200 && !found ? 404 : status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const archiveS3 = {
    endpoint,
    bucket: 'copies',
    region: 'eu-test-1',
    accessKeyId: 'key-id',
    secretAccessKey: 'secret',
  }
  return { objects, answers, store: createArchiveStore({ dataDir: '', archiveS3 }) }
}

test('a bucket is written to and cleared with signed requests', async () => {
  const { objects, store } = await givenS3()
  await store.put('arc_1.bin', Buffer.from('sealed'))
  expect([...objects]).toEqual([['/copies/arc_1.bin', Buffer.from('sealed')]])
  await store.delete('arc_1.bin')
  await store.delete('arc_1.bin')
  expect(objects.size).toBe(0)
})

test('a bucket that refuses a deletion fails the step instead of passing over it', async () => {
  const { answers, store } = await givenS3()
  answers.push(403)
  await expect(store.delete('arc_1.bin')).rejects.toThrow('the archive store answered 403')
})
