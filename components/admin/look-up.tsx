'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { Fragment, useEffect } from 'react'
import { ApiError } from '@/contract/errors'
import { useUntilBack } from '../api/press-error'
import { buttonStyle } from '../ui/button-style'
import { TextField } from '../ui/field'
import { linkOf } from './id-link'
import { operate, sentenceOf } from './operate'

const WHAT_TO_TYPE =
  'Type an ID (wd_…, usr_…, txn_…, app_… or your own of the person), an address, or the beginning of the name of an app.'
const FOLDERS: Record<string, string> = { withdrawal: 'withdrawals', user: 'users', app: 'apps' }

/** Several that begin as the text does are named in the sentence, which leads to each. */
const linked = (sentence: string) =>
  sentence
    .split(/\b((?:usr|wd|app)_[\w-]{22})/)
    .map((part, index) => (index % 2 === 0 ? part : <Fragment key={part}>{linkOf(part)}</Fragment>))

/** What was searched, until the page that has it is there. */
let searched: string | null = null

/** The title takes the focus that went with the form; what is a part of the page, a transaction or a deletion task, takes it itself. */
function focusFound() {
  if (searched === null) return
  const isPart = /^(txn|msg)_/.test(searched)
  const part = isPart && document.querySelector<HTMLElement>(`[id^="${CSS.escape(searched)}"]`)
  const found = part || document.querySelector('h1')
  searched = null
  if (!found) return
  found.tabIndex = -1
  found.focus()
}

/** The id in a link to a page of /admin, and an address as mail programs write it. */
const meantBy = (text: string) => (/\/admin\/\w+\/([\w-]+)/.exec(text) ?? /<(\S+@\S+)>\s*$/.exec(text))?.[1] ?? text

/**
 * Finds a deletion, a person or an application. The search text never stands in a URL, because it may be an address. As an action, and with
 * a button that works from the start, a search that is sent before this script runs waits for it.
 */
export function LookUp() {
  const router = useRouter()
  const find = useMutation({
    async mutationFn(text: string) {
      if (text.trim() === '') throw new ApiError('REQUEST_001', WHAT_TO_TYPE, 0)
      return operate('lookUp', {}, { text })
    },
    onSuccess({ kind, id }, text) {
      searched = text.trim().replace(/(?:…|\.{3})$/, '')
      const path = `/admin/${FOLDERS[kind] ?? 'users'}/${encodeURIComponent(id)}`
      if (path === window.location.pathname) focusFound()
      else router.push(path)
    },
  })
  useEffect(focusFound, [])
  const error = useUntilBack(find.error)
  return (
    <search>
      <form
        className="@container"
        action={(form) => {
          const text = form.get('text')
          if (typeof text === 'string' && !find.isPending) find.mutate(meantBy(text))
        }}
      >
        <div className="flex flex-col items-start gap-2 @3xs:flex-row">
          <TextField
            label="Find a deletion, person or app"
            name="text"
            // After its action React resets the form.
            defaultValue={find.variables}
            maxLength={320}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="ID, address or app"
            // The button beside it says what it is for.
            className="w-full min-w-0 flex-1 *:[label]:sr-only"
            onInput={() => find.isError && find.reset()}
            {...(error && { error: linked(sentenceOf(error)) })}
          />
          <button type="submit" className={buttonStyle({ variant: 'secondary' })} aria-busy={find.isPending}>
            Find
          </button>
        </div>
      </form>
    </search>
  )
}
