import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ArchiveStore } from '@/domain/ports'
import { createArchiveStore } from './archive-store'

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

test('without a directory and a bucket there is no archive store', () => {
  expect(createArchiveStore({ archiveDir: undefined, archiveS3: undefined })).toBeNull()
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
    const { method } = request
    const found = method === 'DELETE' ? objects.delete(url) : method !== 'HEAD' || objects.has(url)
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
  return { objects, answers, store: createArchiveStore({ archiveDir: undefined, archiveS3 }) as ArchiveStore }
}

test('requests to a bucket are signed', async () => {
  const { objects, store } = await givenS3()
  await store.put('arc_1.bin', Buffer.from('sealed'))
  expect([...objects]).toEqual([['/copies/arc_1.bin', Buffer.from('sealed')]])
  expect([await store.exists('arc_1.bin'), await store.exists('arc_2.bin')]).toEqual([true, false])
  await store.delete('arc_1.bin')
  await store.delete('arc_1.bin')
  expect(objects.size).toBe(0)
})

test('a bucket that refuses a deletion or a look-up is an error, so that the step fails', async () => {
  const { answers, store } = await givenS3()
  for (const ask of [store.delete, store.exists]) {
    answers.push(403)
    await expect(ask('arc_1.bin')).rejects.toMatchObject({ code: 'archive_store_403' })
  }
})
