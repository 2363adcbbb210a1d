'use client'

import { Brand } from '@/components/brand'
import { centeredColumn, Main } from '@/components/main'
import { Button } from '@/components/ui/button'

interface ErrorPageProps {
  error: Error & { digest?: string }
}

export default function ErrorPage({ error }: ErrorPageProps) {
  return (
    <Main className={centeredColumn}>
      <Brand />
      <h1 className="mt-8 font-semibold text-3xl leading-9 tracking-[-0.03em]">This page could not be shown</h1>
      <p className="mt-3 text-ink-muted">
        The fault is ours, and nothing in your account was changed by it. Try again; if it stays, come back in a few
        minutes.
      </p>
      {error.digest && (
        <p className="mt-3 text-ink-muted text-sm">
          If you ask for help, quote <code className="select-all font-mono text-ink">{error.digest}</code>.
        </p>
      )}
      <div className="mt-8">
        {/* Not reset(), because it renders the same answer of the server again. */}
        <Button onClick={() => window.location.reload()} className="w-full sm:w-auto">
          Try again
        </Button>
      </div>
    </Main>
  )
}
