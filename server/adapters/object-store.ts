import { randomUUID } from 'node:crypto'
import { access, link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import type { ArchiveStore } from '@/domain/ports'
import type { Env } from '../settings/env'
import type { S3Settings } from '../settings/store-settings'
import { createSemaphore } from './semaphore'

const TIMEOUT_MS = 20_000

/** The archive store and the erasure ledger use it. Keys may have slashes. */
export interface ObjectStore extends ArchiveStore {
  /** As `put`, but never replaces an object: false if there is one. */
  add(objectKey: string, content: Uint8Array): Promise<boolean>
  get(objectKey: string): Promise<Buffer | null>
  /** The keys that begin with the prefix, a folder with its slash, in their order; only those after `after`. */
  list(prefix: string, after?: string): AsyncIterable<string>
}

export function createArchiveStore({
  archiveDir,
  archiveS3,
}: Pick<Env, 'archiveDir' | 'archiveS3'>): ArchiveStore | null {
  if (archiveS3) return inBucket(archiveS3)
  return archiveDir ? inDirectory(archiveDir) : null
}

const unlessMissing =
  <T>(otherwise: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return otherwise
    throw error
  }

/**
 * Stores each object as a file. With `hasManyWriters`, several instances may write the same object, each in a partial file of its own.
 * A network directory can hang, so each call ends in time, and all calls together leave threads of the process to others.
 */
export function inDirectory(directory: string, { hasManyWriters = false, timeoutMs = TIMEOUT_MS } = {}): ObjectStore {
  const threads = createSemaphore(hasManyWriters ? 2 : 1, { maxWaitMs: timeoutMs })
  const failInTime = () => {
    throw Object.assign(new Error(`The directory ${directory} does not answer.`), { code: 'object_store_timeout' })
  }
  async function inTime<T>(work: () => Promise<T>): Promise<T> {
    await threads.acquire().catch(failInTime)
    const over = new AbortController()
    const tooLate = sleep(timeoutMs, undefined, { signal: over.signal, ref: false }).then(failInTime)
    return Promise.race([work().finally(threads.release), tooLate]).finally(() => over.abort())
  }
  async function write<T>(objectKey: string, content: Uint8Array, name: (draft: string, file: string) => Promise<T>) {
    const file = path.join(directory, objectKey)
    const draft = hasManyWriters ? `${file}.${randomUUID()}.part` : `${file}.part`
    await mkdir(path.dirname(file), { recursive: true })
    try {
      await writeDurably(draft, content)
      const named = await name(draft, file)
      await syncDirectory(path.dirname(file))
      return named
    } finally {
      // Also after a failure, or each try would leave one on a disk that is full.
      await rm(draft, { force: true })
    }
  }
  const read = (objectKey: string) => readFile(path.join(directory, objectKey)).catch(unlessMissing(null))
  const isThere = (objectKey: string) => access(path.join(directory, objectKey)).then(() => true, unlessMissing(false))
  return {
    put: (objectKey, content) => inTime(() => write(objectKey, content, rename)),
    add: (objectKey, content) => inTime(() => write(objectKey, content, nameOnce)),
    exists: (objectKey) => inTime(() => isThere(objectKey)),
    get: (objectKey) => inTime(() => read(objectKey)),
    async *list(prefix, after = '') {
      const names = await inTime(() => readdir(path.join(directory, prefix)).catch(unlessMissing<string[]>([])))
      for (const name of names.sort()) {
        const objectKey = `${prefix}${name}`
        if (!name.endsWith('.part') && objectKey > after) yield objectKey
      }
    },
    delete: (objectKey) =>
      inTime(async () => {
        const file = path.join(directory, objectKey)
        await rm(file, { force: true })
        // A killed writer can leave the partial file.
        await rm(`${file}.part`, { force: true })
      }),
  }
}

const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

/** Links the file, because a rename would replace the object of another instance. Only a share without links gets a rename. */
async function nameOnce(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (NO_LINKS.has(code)) return rename(draft, file).then(() => true)
    if (code !== 'EEXIST') throw error
    return false
  }
  return true
}

async function writeDurably(file: string, content: Uint8Array) {
  const handle = await open(file, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Without it a crash of the machine can lose the new name. Windows opens no directories. */
async function syncDirectory(directory: string) {
  if (process.platform === 'win32') return
  const handle = await open(directory)
  await handle.sync().finally(() => handle.close())
}

export function inBucket({ endpoint, bucket, ...credentials }: S3Settings): ObjectStore {
  const client = new AwsClient({ ...credentials, service: 's3', retries: 2 })
  const url = `${endpoint.replace(/\/$/, '')}/${bucket}`
  /** Names the bucket, because the operator command prints the message. */
  const failure = (says: string, code: string | number) =>
    Object.assign(new Error(`The bucket ${url} ${says} ${code}.`), { code: `object_store_${code}` })
  /** Some stores answer 501 to a condition. */
  let knowsConditions = true
  /** Null when the object does not exist. */
  async function send(method: 'GET' | 'PUT' | 'HEAD' | 'DELETE', place: string, content?: Uint8Array, headers = {}) {
    const response = await client
      .fetch(`${url}${place}`, {
        method,
        headers,
        body: content as BodyInit | undefined,
        // A page to which a call was led could look like an object that was stored or deleted.
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      .catch(({ name, cause }) => {
        throw failure('does not answer:', cause?.code ?? name)
      })
    // Read to its end, because Next copies the body of every GET in this process, and cancelling one of two copies never ends.
    const body = Buffer.from(await response.arrayBuffer())
    if (response.ok) return body
    // A missing bucket must not look like an empty list.
    if (response.status === 404 && method !== 'PUT' && !place.startsWith('?')) return null
    throw failure('answered', response.status)
  }
  return {
    put: (objectKey, content) => send('PUT', `/${objectKey}`, content).then(() => {}),
    async add(objectKey, content) {
      try {
        await send('PUT', `/${objectKey}`, content, knowsConditions ? { 'If-None-Match': '*' } : {})
        return true
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'object_store_412') return false
        if (code !== 'object_store_501' || !knowsConditions) throw error
        knowsConditions = false
        return this.add(objectKey, content)
      }
    },
    exists: async (objectKey) => (await send('HEAD', `/${objectKey}`)) !== null,
    get: (objectKey) => send('GET', `/${objectKey}`),
    async *list(prefix, after = '') {
      for (let last = after, isCut = true; isCut; ) {
        const query = new URLSearchParams({ 'list-type': '2', prefix, ...(last && { 'start-after': last }) })
        const page = String(await send('GET', `?${query}`))
        const keys = [...page.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key)
        isCut = /<IsTruncated>true</.test(page)
        // Another page must not look like an empty list either.
        if (!page.includes('</ListBucketResult>') || (isCut && keys.length === 0)) throw failure('answered', 'no_list')
        yield* keys
        last = keys.at(-1) ?? last
      }
    },
    delete: (objectKey) => send('DELETE', `/${objectKey}`).then(() => {}),
  }
}
