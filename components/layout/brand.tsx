'use client'

import { createContext, type ReactNode, useContext } from 'react'

/** The parts of the brand that pages show. */
interface PageBrand {
  name: string
  hasLogo: boolean
  /** The product's own site. */
  url?: string
  /** A page, or the address to write to. */
  supportUrl: string
  privacyUrl?: string
  termsUrl?: string
}

const BrandContext = createContext<PageBrand>({ name: '', hasLogo: false, supportUrl: '' })

export const useBrand = () => useContext(BrandContext)

export const BrandProvider = ({ brand, children }: { brand: PageBrand; children: ReactNode }) => (
  <BrandContext value={brand}>{children}</BrandContext>
)

export function Brand() {
  const { name, hasLogo } = useBrand()
  return (
    <a
      href="/"
      className="wrap-break-word inline-flex min-h-11 min-w-0 items-center gap-2.5 rounded-lg font-semibold tracking-[-0.015em]"
    >
      {hasLogo ? (
        // biome-ignore lint/performance/noImgElement: the adopter's file, of any size, from this service itself
        <img src="/brand/logo" alt="" className="h-7 max-w-28 shrink-0 object-contain" />
      ) : (
        <svg viewBox="0 0 32 32" className="size-[min(1.75rem,9vw)] shrink-0" fill="none" aria-hidden>
          <rect width="32" height="32" rx="9" className="fill-action" />
          <g className="stroke-on-action" strokeWidth="2.25" strokeLinecap="round" strokeLinejoin="round">
            <circle cx="16" cy="12.25" r="4.25" />
            <path d="M7.75 24.5c1.4-3.9 4.5-6 8.25-6 1.6 0 3.1.4 4.4 1.1" />
            <path d="m19.75 23.75 2.4 2.4 4.35-4.9" />
          </g>
        </svg>
      )}
      {name}
    </a>
  )
}
