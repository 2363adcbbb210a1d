'use client'

import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { ConfirmedButton } from '../confirmed-button'
import { Card, CardBody, CardHeader } from '../ui/card'
import { RelativeTime } from '../ui/relative-time'
import { textLink } from '../ui/text-link'

interface FrozenAccountsProps {
  /** The one that waits longest comes first. */
  accounts: readonly { userId: string; frozenAt: Date }[]
  renderedAt: string
}

export function FrozenAccounts({ accounts, renderedAt }: FrozenAccountsProps) {
  if (accounts.length === 0) return null
  return (
    <Card>
      <CardHeader
        title="Frozen accounts"
        description="The old address undid a change, but another account has it now. Nobody gets in until you release the account."
      />
      <CardBody>
        <ul className="divide-y divide-line">
          {accounts.map(({ userId, frozenAt }) => (
            <li
              key={userId}
              className="flex flex-wrap items-center justify-between gap-x-4 gap-y-3 py-4 first:pt-0 last:pb-0"
            >
              <div className="min-w-0">
                <h3 id={`${userId}-frozen`} className="wrap-anywhere font-medium font-mono text-sm leading-6">
                  <Link href={`/admin/users/${userId}`} className={textLink}>
                    {userId}
                  </Link>
                </h3>
                <p className="text-ink-muted text-sm">
                  Frozen <RelativeTime dateTime={frozenAt.toISOString()} renderedAt={renderedAt} />
                </p>
              </div>
              <ReleaseButton userId={userId} describedBy={`${userId}-frozen`} />
            </li>
          ))}
        </ul>
      </CardBody>
    </Card>
  )
}

export function ReleaseButton({ userId, describedBy }: { userId: string; describedBy: string }) {
  const router = useRouter()
  return (
    <ConfirmedButton
      label="Release"
      describedBy={describedBy}
      question="Release this account?"
      consequence={
        <p>
          Whoever has its address and its password gets in again. Make sure first whose account it is, and change its
          address if it is the wrong one.
        </p>
      }
      keep="Keep it frozen"
      confirm="Yes, release it"
      act={() => release(userId)}
      onDone={() => router.refresh()}
    />
  )
}

async function release(userId: string) {
  const path = `/admin/users/${encodeURIComponent(userId)}/unfreeze`
  const response = await fetch(path, { method: 'POST' }).catch(() => null)
  if (response?.status === 401) window.location.assign('/sign-in?ended=1&next=/admin')
  // Another operator may have released it.
  if (!response?.ok && response?.status !== 404) throw new Error('The account could not be released.')
}
