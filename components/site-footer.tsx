import Link from 'next/link'

export function SiteFooter() {
  return (
    <footer className="mx-auto flex w-full max-w-5xl flex-wrap items-center gap-x-6 px-4 py-6 text-ink-muted text-sm sm:px-6">
      <span>User Account Service</span>
      <Link href="/docs/api" className="inline-flex min-h-11 items-center hover:text-ink hover:underline">
        API documentation
      </Link>
    </footer>
  )
}
