import { inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Download } from '@/domain/download'
import { request } from '@/testing/api-calls'
import { givenCaller } from '@/testing/callers'
import { givenService } from '@/testing/service'
import { zipOf } from './zip'

/** The files of an archive, found by its central directory. */
function unzip(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06'))
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [size, nameLength, extraLength, commentLength] = [
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
      archive.readUInt16LE(at + 30),
      archive.readUInt16LE(at + 32),
    ]
    const local = archive.readUInt32LE(at + 42)
    const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const name = archive.subarray(at + 46, at + 46 + nameLength).toString()
    files.set(name, inflateRawSync(archive.subarray(begin, begin + size)))
    at += 46 + nameLength + extraLength + commentLength
  }
  return files
}

const at = new Date('2026-11-20T09:00:00Z')

test('an export is answered with a ZIP archive that no cache keeps', async () => {
  const ctx = await givenService()
  const caller = await givenCaller(ctx)
  const response = await request(caller, 'exportData', { headers: { 'Idempotency-Key': 'is not looked at' } })
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="account-data-${ctx.clock.now().toISOString().slice(0, 10)}.zip"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  const files = unzip(Buffer.from(await response.arrayBuffer()))
  const { categories } = JSON.parse(files.get('manifest.json')?.toString() ?? '')
  expect([...files.keys()]).toEqual([...categories.map(({ file }: { file: string }) => file), 'manifest.json'])
  expect(JSON.parse(files.get('account.json')?.toString() ?? '')).toMatchObject([{ email: caller.email }])
  expect(await ctx.db.idempotencyKey.count({ where: { userId: caller.userId } })).toBe(0)
})

test('documents are made no faster than the client reads', async () => {
  let made = 0
  const piece = Buffer.alloc(100_000)
  const documents: Download['documents'] = [
    {
      name: 'large.json',
      at,
      async *read() {
        // Random bytes cannot be compressed.
        for (; made < 500; made++) yield Buffer.from(piece.map(() => Math.floor(Math.random() * 256)))
      },
    },
  ]
  const reader = zipOf({ fileName: 'x.zip', documents }).getReader()
  for (let n = 0; n < 5; n++) await reader.read()
  const before = made
  await new Promise((resolve) => setImmediate(resolve))
  expect(before).toBeLessThan(50)
  expect(made).toBeLessThan(50)
  await reader.cancel()
})

test('an archive that fails in the middle ends with an error and does not look whole', async () => {
  const documents: Download['documents'] = [
    {
      name: 'broken.json',
      at,
      // biome-ignore lint/correctness/useYield: it fails before the first piece.
      async *read() {
        throw new Error('the database is away')
      },
    },
  ]
  await expect(new Response(zipOf({ fileName: 'x.zip', documents })).arrayBuffer()).rejects.toThrow()
})
