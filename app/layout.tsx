import './globals.css'
import type { Metadata, Viewport } from 'next'
import localFont from 'next/font/local'
import type { ReactNode } from 'react'
import { SkipLink } from '@/components/skip-link'
import { Providers } from './providers'

// The package's own exports would preload the whole font. Most pages need only the Latin letters, less than half of the bytes.
const geistLatin = localFont({
  src: './fonts/geist-latin.woff2',
  variable: '--font-geist-latin',
  weight: '100 900',
  adjustFontFallback: false,
})
const geistSans = localFont({
  src: '../node_modules/geist/dist/fonts/geist-sans/Geist-Variable.woff2',
  variable: '--font-geist-sans',
  weight: '100 900',
  preload: false,
  declarations: [{ prop: 'unicode-range', value: 'U+100-10FFFF' }],
})
const geistMono = localFont({
  src: '../node_modules/geist/dist/fonts/geist-mono/GeistMono-Variable.woff2',
  variable: '--font-geist-mono',
  weight: '100 900',
  preload: false,
})

export const metadata: Metadata = {
  title: { default: 'User Account Service', template: '%s · User Account Service' },
  description: 'Change and verify your email address safely; delete your account and watch it happen.',
  robots: { index: false },
}

export const viewport: Viewport = {
  colorScheme: 'light dark',
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#ffffff' },
    { media: '(prefers-color-scheme: dark)', color: '#15171c' },
  ],
}

// A prerendered page could not carry the nonce of its request.
export const dynamic = 'force-dynamic'

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en" className={`${geistLatin.variable} ${geistSans.variable} ${geistMono.variable}`}>
      <body className="flex min-h-dvh flex-col font-sans">
        <SkipLink />
        <Providers>{children}</Providers>
      </body>
    </html>
  )
}
