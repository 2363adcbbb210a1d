import Link from 'next/link'
import { cn } from '../ui/class-names'
import { textLink } from '../ui/text-link'

/** The name of what has the id, where one is known, stands in its place. */
export const idLink = (folder: string, name?: string | null) => (id: string) => (
  <Link
    href={`/admin/${folder}/${encodeURIComponent(id)}`}
    className={cn(textLink, !name && 'font-mono text-xs @2xl:text-sm @4xl:whitespace-nowrap')}
  >
    {name ?? id}
  </Link>
)

const FOLDERS = { app_: 'apps', usr_: 'users', wd_: 'withdrawals' }

/** The id of a deletion task names its deletion. */
const TASK = /^msg_([\w-]{22})_/

/** Leads to what the id names, where that has a page. */
export function linkOf(id: string) {
  const [, deletion] = TASK.exec(id) ?? []
  if (deletion) return <>A task of {idLink('withdrawals')(`wd_${deletion}`)}</>
  const [, folder] = Object.entries(FOLDERS).find(([prefix]) => id.startsWith(prefix)) ?? []
  return folder ? idLink(folder)(id) : mono(id)
}

export function mono(text: string) {
  return <span className="font-mono">{text}</span>
}
