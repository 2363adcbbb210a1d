import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AwsClient } from 'aws4fetch'
import type { ArchiveStore } from '@/domain/context'
import type { Env } from './env'

const TIME_OUT_MS = 20_000

export interface S3Settings {
  /** Such as https://s3.eu-central-1.amazonaws.com; the bucket stands in the path. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

export const createArchiveStore = ({ dataDir, archiveS3 }: Pick<Env, 'dataDir' | 'archiveS3'>): ArchiveStore =>
  archiveS3 ? inBucket(archiveS3) : inDirectory(path.join(dataDir, 'archives'))

/** One file an archive. */
function inDirectory(directory: string): ArchiveStore {
  return {
    async put(objectKey, content) {
      await mkdir(directory, { recursive: true })
      const file = path.join(directory, objectKey)
      await writeFile(`${file}.part`, content, { mode: 0o600 })
      await rename(`${file}.part`, file)
    },
    async delete(objectKey) {
      const file = path.join(directory, objectKey)
      // A writer that was killed leaves the part behind.
      await Promise.all([file, `${file}.part`].map((path) => rm(path, { force: true })))
    },
  }
}

/** One object an archive, in anything that speaks S3. */
function inBucket({ endpoint, bucket, ...credentials }: S3Settings): ArchiveStore {
  const client = new AwsClient({ ...credentials, service: 's3', retries: 2 })
  async function send(method: 'PUT' | 'DELETE', objectKey: string, content?: Uint8Array) {
    const response = await client.fetch(`${endpoint.replace(/\/$/, '')}/${bucket}/${objectKey}`, {
      method,
      body: content as BodyInit | undefined,
      signal: AbortSignal.timeout(TIME_OUT_MS),
    })
    await response.body?.cancel()
    // What is gone already needs no deleting.
    if (!response.ok && !(method === 'DELETE' && response.status === 404)) {
      throw new Error(`the archive store answered ${response.status}`)
    }
  }
  return {
    put: (objectKey, content) => send('PUT', objectKey, content),
    delete: (objectKey) => send('DELETE', objectKey),
  }
}
