import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { LetterFile } from '../adapters/letters'
import { getEnv } from '../settings/env'

interface StoredMessage {
  id: string
  at: string
  userId: string
  to: string
  from: string
  subject: string
  html: string
  text: string
  /** A message of an earlier release has none. */
  files?: LetterFile[]
}

const MAX_MESSAGES = 500
/** How long a message of a deleted account can still be read, however fast the deletion is in a trial. */
const READABLE_MS = 10 * 60_000
/** The end of such a message's file name. */
const DELETED_SUFFIX = '.deleted.json'

const directory = () => path.join(getEnv().dataDir, 'mailbox')

/** Local mode only: stores each message as a file in place of sending it. */
export async function storeMessage(message: Omit<StoredMessage, 'id'>): Promise<void> {
  await mkdir(directory(), { recursive: true })
  const id = `${fileTime(message.at)}-${randomBytes(6).toString('hex')}`
  const file = path.join(directory(), `${id}.json`)
  // Written under another name first, so that a reader never sees a partial file.
  try {
    await writeFile(`${file}.part`, JSON.stringify({ id, ...message }), { mode: 0o600 })
    await rename(`${file}.part`, file)
  } catch (error) {
    // Remove the partial file when the disk is full.
    await rm(`${file}.part`, { force: true })
    throw error
  }
  const old = (await listFiles()).slice(MAX_MESSAGES)
  await Promise.all(old.map((name) => rm(path.join(directory(), name), { force: true })))
}

/** Newest first; null if a mail server is configured. */
export async function readMailbox(): Promise<StoredMessage[] | null> {
  if (getEnv().smtpUrl) return null
  const names = await listFiles()
  const files = await Promise.all(names.map((name) => readFile(path.join(directory(), name), 'utf8').catch(() => null)))
  return files.filter((text) => text !== null).map((text) => JSON.parse(text) as StoredMessage)
}

export async function deleteMessages(userId: string): Promise<void> {
  const messages = (await readMailbox()) ?? []
  const theirs = messages.filter((message) => message.userId === userId)
  const inDirectory = (name: string) => path.join(directory(), name)
  await Promise.all(
    theirs.map(({ id }) => rename(inDirectory(`${id}.json`), inDirectory(id + DELETED_SUFFIX)).catch(() => {})),
  )
  // A partial file of a killed writer may be this user's.
  const before = timeBefore(60_000)
  const names = await readdir(directory()).catch(() => [])
  const parts = names.filter((name) => name.endsWith('.part') && name < before)
  await Promise.all(parts.map((name) => rm(inDirectory(name), { force: true })))
  await deleteExpiredMessages()
  if (theirs.length > 0) setTimeout(deleteExpiredMessages, READABLE_MS).unref()
}

/** Deletes messages whose time has ended, those of an earlier process too. */
export async function deleteExpiredMessages(): Promise<void> {
  const before = timeBefore(READABLE_MS)
  const names = await readdir(directory()).catch(() => [])
  const old = names.filter((name) => name.endsWith(DELETED_SUFFIX) && name < before)
  await Promise.all(old.map((name) => rm(path.join(directory(), name), { force: true })))
}

/** Names begin with the time, so they are compared with it. */
const timeBefore = (ms: number) => fileTime(new Date(Date.now() - ms).toISOString())

const fileTime = (iso: string) => iso.replaceAll(/[:.]/g, '-')

async function listFiles(): Promise<string[]> {
  const names = await readdir(directory()).catch(() => [])
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .reverse()
}
