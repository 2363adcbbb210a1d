import 'server-only'
import { existsSync } from 'node:fs'
import { CopyButton } from '../ui/copy-button'

/** A packed folder and the image have no npm. */
const PREFIX = existsSync('scripts/account.mjs') ? 'npm run -s account --' : 'node dist/account.mjs'

/** A line of the operator command as a terminal takes it; words in capitals stand for values. */
export const lineOf = (words: string) => `${PREFIX} ${words}`

export function Command({ words }: { words: string }) {
  const line = lineOf(words)
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <code className="wrap-break-word min-w-0 font-mono text-ink text-sm">{line}</code>
      <span className="-ms-3">
        <CopyButton text={line} label="the command" />
      </span>
    </span>
  )
}
