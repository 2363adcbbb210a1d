import './globals.css'
import type { Metadata, Viewport } from 'next'
import localFont from 'next/font/local'
import type { ReactNode } from 'react'
import { BrandProvider } from '@/components/layout/brand'
import { OfflineNotice } from '@/components/layout/offline-notice'
import { SkipLink } from '@/components/layout/skip-link'
import { PageTexts } from '@/components/layout/texts'
import { pageLanguage, pageNonce, pageTexts, SHARED_AREAS, textsOf } from '@/server/pages/language'
import { type Accent, accentsOf } from '@/server/settings/accent'
import { getEnv } from '@/server/settings/env'
import { systemContext } from '@/server/system-context'
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
  // The range ends before the Asian scripts, which the font does not have. Otherwise the word 日本語 in the footer would load it.
  declarations: [{ prop: 'unicode-range', value: 'U+100-2E7F' }],
})
const geistMono = localFont({
  src: '../node_modules/geist/dist/fonts/geist-mono/GeistMono-Variable.woff2',
  variable: '--font-geist-mono',
  weight: '100 900',
  preload: false,
})

export async function generateMetadata(): Promise<Metadata> {
  const { brand } = getEnv()
  const t = await pageTexts('Landing')
  return {
    // global-error.tsx reads this name from the document.
    applicationName: brand.name,
    title: { default: brand.name, template: `%s · ${brand.name}` },
    description: t('description'),
    robots: { index: false },
    icons: { icon: '/brand/mark' },
  }
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

export default async function RootLayout({ children }: { children: ReactNode }) {
  const { brand, supportEmail } = getEnv()
  const { name, url, supportUrl = `mailto:${supportEmail}`, privacyUrl, termsUrl, accentColor } = brand
  const language = await pageLanguage()
  return (
    <html lang={language} className={`${geistLatin.variable} ${geistSans.variable} ${geistMono.variable}`}>
      <body className="flex min-h-dvh flex-col font-sans">
        {accentColor && <AccentStyle color={accentColor} nonce={await pageNonce()} />}
        <PageTexts language={language} texts={await textsOf(SHARED_AREAS)}>
          <BrandProvider brand={{ name, hasLogo: brand.logo !== undefined, url, supportUrl, privacyUrl, termsUrl }}>
            <SkipLink />
            <Providers renderedAt={systemContext().clock.now().toISOString()}>{children}</Providers>
            <OfflineNotice />
          </BrandProvider>
        </PageTexts>
      </body>
    </html>
  )
}

/** Replaces the accent of globals.css. */
function AccentStyle({ color, nonce }: { color: string; nonce: string }) {
  const { light, dark } = accentsOf(color)
  const set = ({ accent, soft }: Accent) => `:root{--accent:${accent};--accent-soft:${soft}}`
  return <style nonce={nonce}>{`${set(light)}@media screen and (prefers-color-scheme:dark){${set(dark)}}`}</style>
}
