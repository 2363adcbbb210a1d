import 'server-only'
import { existsSync } from 'node:fs'
import { count } from '@/contract/words'
import { Copyable } from './copyable'

/** A packed folder and the image have no npm. */
const PREFIX = existsSync('scripts/account.mjs') ? 'npm run -s account --' : 'node dist/account.mjs'

/** A line of the operator command as a terminal takes it; words in capitals stand for values. */
const lineOf = (words: string) => `${PREFIX} ${words}`

export const Command = ({ words }: { words: string }) => <Copyable text={lineOf(words)} label="the command" />

/** How an application that is no more leaves the lists. */
export const Removal = ({ of, openTasks }: { of: string; openTasks: number }) => (
  <div className="text-ink-muted text-sm">
    {openTasks > 0
      ? `If it no longer exists, this command removes it and stops waiting for it in ${count(openTasks, 'deletion')}. Each person reads that it no longer exists: `
      : 'If it no longer exists, this command removes it: '}
    <Command words={`app remove ${of}${openTasks > 0 ? ' --waive gone' : ''}`} />
  </div>
)
