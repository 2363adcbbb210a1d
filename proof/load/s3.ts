import { AwsClient } from 'aws4fetch'
import { beforeAll, expect, test } from 'vitest'
import type { ArchiveStore } from '@/domain/ports'
import { createArchiveStore } from '@/server/adapters/archive-store'
import type { S3Settings } from '@/server/settings/store-settings'

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
