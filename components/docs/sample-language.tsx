'use client'

import { useEffect, useRef } from 'react'
import { keepInTab, keptInTab } from '../session/tab-storage'

const KEY = 'sample-language'

/** The language of the examples. The choice works without a script; with one it holds for the other pages too. */
export function SampleLanguage({ languages }: { languages: Readonly<Record<string, string>> }) {
  const box = useRef<HTMLFieldSetElement>(null)
  useEffect(() => {
    const chosen = box.current?.querySelector<HTMLInputElement>(`#language-${keptInTab(KEY)}`)
    if (chosen) chosen.checked = true
  }, [])
  return (
    <fieldset ref={box} className="flex flex-wrap items-center gap-x-5 gap-y-2">
      <legend className="float-start me-5 font-medium">Examples in</legend>
      {Object.entries(languages).map(([language, title], index) => (
        <label key={language} className="flex items-center gap-2 py-1">
          <input
            type="radio"
            name="language"
            id={`language-${language}`}
            defaultChecked={index === 0}
            onChange={() => keepInTab(KEY, language)}
            className="size-4"
          />
          {title}
        </label>
      ))}
    </fieldset>
  )
}
