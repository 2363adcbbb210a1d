import Link from 'next/link'

export function Brand() {
  return (
    <Link href="/" className="inline-flex min-h-11 items-center gap-2.5 rounded-lg font-semibold tracking-[-0.015em]">
      <svg viewBox="0 0 32 32" className="size-7 shrink-0" fill="none" aria-hidden>
        <rect width="32" height="32" rx="9" className="fill-action" />
        <g className="stroke-on-action" strokeWidth="2.25" strokeLinecap="round" strokeLinejoin="round">
          <circle cx="16" cy="12.25" r="4.25" />
          <path d="M7.75 24.5c1.4-3.9 4.5-6 8.25-6 1.6 0 3.1.4 4.4 1.1" />
          <path d="m19.75 23.75 2.4 2.4 4.35-4.9" />
        </g>
      </svg>
      User Account Service
    </Link>
  )
}
