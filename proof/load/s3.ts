import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { AwsClient } from 'aws4fetch'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { writeArchive } from '@/domain/applications/archives'
import type { ArchiveStore } from '@/domain/ports'
import { runDeletionStep } from '@/domain/withdrawal/run-deletion-step'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { createArchiveStore } from '@/server/adapters/archive-store'
import type { S3Settings } from '@/server/settings/store-settings'
import { asUser, givenUser, type TestContext, testContext } from '@/testing/domain'

const endpoint = process.env.S3_TEST_ENDPOINT as string
const region = 'eu-central-1'
const bucket = 'copies'
/** What docs/operations.md asks the operator to allow. */
const PERMISSIONS = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Action: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'],
      Resource: `arn:aws:s3:::${bucket}/*`,
    },
    { Effect: 'Allow', Action: 's3:ListBucket', Resource: `arn:aws:s3:::${bucket}` },
  ],
}

let settings: S3Settings
let s3: AwsClient

// The server takes these four calls from anyone; see scripts/test-s3.mjs.
beforeAll(async () => {
  const anyone = { accessKeyId: 'anyone', secretAccessKey: 'anyone' }
  const iam = new AwsClient({ ...anyone, service: 'iam', region: 'us-east-1' })
  const ask = async (Action: string, parameters: Record<string, string>) => {
    const body = new URLSearchParams({ Action, Version: '2010-05-08', UserName: 'service', ...parameters })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const response = await iam.fetch(endpoint, { method: 'POST', headers, body: body.toString() })
    expect(response.status).toBe(200)
    return response.text()
  }
  await ask('CreateUser', {})
  const key = await ask('CreateAccessKey', {})
  await ask('PutUserPolicy', { PolicyName: 'archives', PolicyDocument: JSON.stringify(PERMISSIONS) })
  const made = await new AwsClient({ ...anyone, service: 's3', region }).fetch(`${endpoint}/${bucket}`, {
    method: 'PUT',
    body: `<CreateBucketConfiguration><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`,
  })
  expect(made.status).toBe(200)
  const read = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(key)?.[1] ?? ''
  const credentials = { accessKeyId: read('AccessKeyId'), secretAccessKey: read('SecretAccessKey') }
  settings = { endpoint, bucket, region, ...credentials }
  s3 = new AwsClient({ ...credentials, service: 's3', region })
})

const storeOf = (changes: Partial<S3Settings> = {}) =>
  createArchiveStore({ archiveDir: undefined, archiveS3: { ...settings, ...changes } }) as ArchiveStore

async function keysInBucket(): Promise<string[]> {
  const response = await s3.fetch(`${endpoint}/${bucket}?list-type=2`)
  expect(response.status).toBe(200)
  return [...(await response.text()).matchAll(/<Key>([^<]+)</g)].map(([, key = '']) => key).sort()
}
const contentOf = async (key: string) =>
  Buffer.from(await (await s3.fetch(`${endpoint}/${bucket}/${key}`)).arrayBuffer())

let ctx: TestContext
beforeEach(async () => {
  ctx = { ...(await testContext()), archives: storeOf() }
})

/** A withdrawal whose archives are due for deletion. */
async function givenDueArchives(count: number) {
  const before = new Set(await keysInBucket())
  const user = await givenUser(ctx)
  for (let n = 0; n < count; n++) await writeArchive(ctx, user.userId)
  const input = { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' } as const
  const { withdrawal_id: withdrawalId } = await withdrawAccount(await asUser(ctx, user), input)
  await ctx.settle()
  ctx.clock.advance(24 * 60 * 60_000)
  const keys = (await keysInBucket()).filter((key) => !before.has(key))
  expect(keys).toHaveLength(count)
  return { user, withdrawalId, keys }
}

/** The state of the step of the archives after one more run. */
async function run(withdrawalId: string, archives: ArchiveStore = storeOf()) {
  const step = 'data_archives'
  await runDeletionStep({ ...ctx, archives }, { withdrawalId, step }).catch(() => {})
  ctx.clock.advance(60 * 60_000)
  const where = { withdrawalId_step: { withdrawalId, step } }
  const { status, lastError } = await ctx.db.deletionStep.findUniqueOrThrow({ where })
  return lastError ?? status
}

test('an object is stored whole, found, replaced and deleted, and a second deletion succeeds too', async () => {
  const store = storeOf()
  const content = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 251))
  expect(await store.exists('arc_1.bin')).toBe(false)
  await store.put('arc_1.bin', Buffer.from('first'))
  await store.put('arc_1.bin', content)
  expect(await store.exists('arc_1.bin')).toBe(true)
  expect((await contentOf('arc_1.bin')).equals(content)).toBe(true)
  await store.delete('arc_1.bin')
  expect(await store.exists('arc_1.bin')).toBe(false)
  await store.delete('arc_1.bin')
  expect(await keysInBucket()).toEqual([])
})

test('every call with a wrong secret or key is refused', async () => {
  await storeOf().put('arc_2.bin', Buffer.from('kept'))
  for (const wrong of [{ secretAccessKey: 'wrong' }, { accessKeyId: 'AKIAWRONG' }]) {
    const store = storeOf(wrong)
    const refused = { code: 'archive_store_403' }
    await expect(store.put('arc_3.bin', Buffer.from('x'))).rejects.toMatchObject(refused)
    await expect(store.exists('arc_2.bin')).rejects.toMatchObject(refused)
    await expect(store.delete('arc_2.bin')).rejects.toMatchObject(refused)
  }
  expect(await keysInBucket()).toEqual(['arc_2.bin'])
  await storeOf().delete('arc_2.bin')
})

test('an archive in the bucket holds nothing readable of the person, and the archive step deletes it', async () => {
  const { user, withdrawalId, keys } = await givenDueArchives(3)
  for (const key of keys) {
    const content = await contentOf(key)
    expect(content.length).toBeGreaterThan(50)
    for (const personal of [user.userId, user.email, 'Ada']) expect(content.includes(personal)).toBe(false)
  }
  expect(await run(withdrawalId)).toBe('completed')
  expect(await keysInBucket()).toEqual([])
})

test('the step fails while an object that was removed from outside is missing', async () => {
  const { withdrawalId, keys } = await givenDueArchives(2)
  const [lost = '', other = ''] = keys
  const content = await contentOf(lost)
  await storeOf().delete(lost)
  expect(await run(withdrawalId)).toBe('Error archive_missing')
  expect(await storeOf().exists(other)).toBe(false)
  await storeOf().put(lost, content)
  expect(await run(withdrawalId)).toBe('completed')
  expect(await keysInBucket()).toEqual([])
})

test('a step that is killed after its deletions completes when it is repeated', async () => {
  const { withdrawalId, keys } = await givenDueArchives(2)
  const store = storeOf()
  const killed = async (key: string) => {
    await store.delete(key)
    if (key === keys[1]) throw new Error('killed')
  }
  expect(await run(withdrawalId, { ...store, delete: killed })).toBe('Error')
  expect(await run(withdrawalId)).toBe('completed')
  expect(await keysInBucket()).toEqual([])
})

/** Where nothing listens. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return `http://127.0.0.1:${port}`
}

test('the step fails while the store is away, refuses or is the wrong one, and completes with the right store', async () => {
  const { withdrawalId, keys } = await givenDueArchives(1)
  expect(await run(withdrawalId, storeOf({ endpoint: await closedPort() }))).toBe('TypeError ECONNREFUSED')
  expect(await run(withdrawalId, storeOf({ secretAccessKey: 'wrong' }))).toBe('Error archive_store_403')
  expect(await run(withdrawalId, storeOf({ bucket: 'another' }))).toMatch(/^Error archive_(missing|store_\d+)$/)
  expect(await keysInBucket()).toEqual(keys)
  expect(await run(withdrawalId)).toBe('completed')
  expect(await keysInBucket()).toEqual([])
})
