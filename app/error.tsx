'use client'

import { Brand } from '@/components/brand'
import { Button } from '@/components/ui/button'

interface ErrorPageProps {
  error: Error & { digest?: string }
}

export default function ErrorPage({ error }: ErrorPageProps) {
  return (
    <main
      id="content"
      tabIndex={-1}
      className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center px-4 py-12 outline-none"
    >
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
        {/* Not reset(): it shows once more what the server has answered. */}
        <Button onClick={() => window.location.reload()} className="w-full sm:w-auto">
          Try again
        </Button>
      </div>
    </main>
  )
}
