import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AwsClient } from 'aws4fetch'
import type { ArchiveStore } from '@/domain/ports'
import type { Env, S3Settings } from '../env'

const TIME_OUT_MS = 20_000

export function createArchiveStore({
  archiveDir,
  archiveS3,
}: Pick<Env, 'archiveDir' | 'archiveS3'>): ArchiveStore | null {
  if (archiveS3) return inBucket(archiveS3)
  return archiveDir ? inDirectory(archiveDir) : null
}

/** Stores each archive as a file. */
function inDirectory(directory: string): ArchiveStore {
  return {
    async put(objectKey, content) {
      await mkdir(directory, { recursive: true })
      const file = path.join(directory, objectKey)
      await writeFile(`${file}.part`, content, { mode: 0o600 })
      await rename(`${file}.part`, file)
    },
    exists: (objectKey) =>
      access(path.join(directory, objectKey)).then(
        () => true,
        (error) => {
          if (error.code === 'ENOENT') return false
          throw error
        },
      ),
    async delete(objectKey) {
      const file = path.join(directory, objectKey)
      // A killed writer can leave the partial file.
      await Promise.all([file, `${file}.part`].map((path) => rm(path, { force: true })))
    },
  }
}

/** Stores each archive as an object in an S3-compatible store. */
function inBucket({ endpoint, bucket, ...credentials }: S3Settings): ArchiveStore {
  const client = new AwsClient({ ...credentials, service: 's3', retries: 2 })
  /** False when the object does not exist. */
  async function send(method: 'PUT' | 'HEAD' | 'DELETE', objectKey: string, content?: Uint8Array): Promise<boolean> {
    const response = await client.fetch(`${endpoint.replace(/\/$/, '')}/${bucket}/${objectKey}`, {
      method,
      body: content as BodyInit | undefined,
      signal: AbortSignal.timeout(TIME_OUT_MS),
    })
    await response.body?.cancel()
    if (response.ok) return true
    if (response.status === 404 && method !== 'PUT') return false
    const { status } = response
    throw Object.assign(new Error(`the archive store answered ${status}`), { code: `archive_store_${status}` })
  }
  return {
    put: (objectKey, content) => send('PUT', objectKey, content).then(() => {}),
    exists: (objectKey) => send('HEAD', objectKey),
    delete: (objectKey) => send('DELETE', objectKey).then(() => {}),
  }
}
