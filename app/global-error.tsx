'use client'

import './globals.css'
import { useEffect, useState } from 'react'
import { centeredColumn, Main } from '@/components/layout/main'
import { Button } from '@/components/ui/button'
import { languageFor } from '@/contract/languages'

/** A copy of the texts in messages/en.json, for a page that cannot load them. */
export const LAST_RESORT = {
  serverHint:
    'Something went wrong on our side. Your account wasn’t changed. Try again; if it keeps happening, come back in a few minutes.',
  serverTitle: 'We couldn’t show this page',
  tryAgain: 'Try again',
}

/** Reads the product and the language from the document that failed, because no script can read the cookie of the language. */
function readDocument() {
  if (typeof document === 'undefined') return { language: 'en', product: '' }
  const languages = [document.documentElement.lang, ...navigator.languages]
  return {
    language: languages.map(languageFor).find((language) => language !== null) ?? 'en',
    product:
      document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? window.location.hostname,
  }
}

/** Replaces the whole document when the layout fails. The texts are loaded only then, so that no healthy page carries them. */
export default function GlobalError() {
  const [{ language, product }] = useState(readDocument)
  const [shown, setShown] = useState<{ language: string; texts: typeof LAST_RESORT }>()
  useEffect(() => {
    import(`../messages/${language}.json`).then(
      ({ default: { Failure: texts } }) => setShown({ language, texts }),
      () => setShown({ language: 'en', texts: LAST_RESORT }),
    )
  }, [language])
  const { texts } = shown ?? {}
  return (
    <html lang={shown?.language}>
      <body className="flex min-h-dvh flex-col font-sans">
        <title>{texts ? `${texts.serverTitle} · ${product}` : product}</title>
        {texts && (
          <Main className={centeredColumn}>
            <p className="font-semibold tracking-[-0.015em]">{product}</p>
            <h1 className="mt-8 font-semibold text-3xl leading-9 tracking-[-0.03em]">{texts.serverTitle}</h1>
            <p className="mt-3 text-ink-muted">{texts.serverHint}</p>
            <div className="mt-8">
              <Button onClick={() => window.location.reload()} className="w-full sm:w-auto">
                {texts.tryAgain}
              </Button>
            </div>
          </Main>
        )}
      </body>
    </html>
  )
}
