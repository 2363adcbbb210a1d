import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

export interface KeptMail {
  to: string
  subject: string
  html: string
  text: string
}

/** The messages to this address that instances have kept in the local mailbox below this directory, oldest first. */
export async function keptMailsTo(to: string, dataDir: string): Promise<KeptMail[]> {
  const directory = path.join(dataDir, 'mailbox')
  const names = await readdir(directory).catch(() => [])
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map((name) => readFile(path.join(directory, name), 'utf8').catch(() => '')),
  )
  const mails = files.filter(Boolean).map((text) => JSON.parse(text) as KeptMail & { at: string })
  return mails.filter((mail) => mail.to === to).sort((a, b) => a.at.localeCompare(b.at))
}
