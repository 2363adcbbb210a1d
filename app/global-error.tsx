'use client'

import './globals.css'
import { useEffect, useState } from 'react'
import { centeredColumn, Main } from '@/components/layout/main'
import { Button } from '@/components/ui/button'
import { languageFor } from '@/contract/languages'

/** The same as in messages/en.json, for where no texts can be loaded. */
export const LAST_RESORT = {
  serverHint:
    'Something went wrong on our side. Your account wasn’t changed. Try again; if it keeps happening, come back in a few minutes.',
  serverTitle: 'We couldn’t show this page',
  tryAgain: 'Try again',
}

/** What the document before this one still says. The language that a person has chosen is in a cookie that no script can read. */
function readDocument() {
  if (typeof document === 'undefined') return { language: 'en', product: '' }
  const languages = [document.documentElement.lang, ...navigator.languages]
  return {
    language: languages.map(languageFor).find((language) => language !== null) ?? 'en',
    product:
      document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? window.location.hostname,
  }
}

/** In place of the whole document, where not even the layout could be shown. Texts are loaded then, and no healthy page carries them. */
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
