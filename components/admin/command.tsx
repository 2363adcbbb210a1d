import 'server-only'
import { existsSync } from 'node:fs'
import { Copyable } from './copyable'

/** A packed folder and the image have no npm. */
const PREFIX = existsSync('scripts/account.mjs') ? 'npm run -s account --' : 'node dist/account.mjs'

/** A line of the operator command as a terminal takes it; words in capitals stand for values. */
export const lineOf = (words: string) => `${PREFIX} ${words}`

export const Command = ({ words }: { words: string }) => <Copyable text={lineOf(words)} label="the command" />

/** How an application that is no more leaves the lists. */
export const Removal = ({ of }: { of: string }) => (
  <div className="text-ink-muted text-sm">
    If it no longer exists, this command removes it: <Command words={`app remove ${of}`} />
  </div>
)
