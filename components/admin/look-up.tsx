'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect } from 'react'
import { ApiError } from '@/contract/errors'
import { Button } from '../ui/button'
import { TextField } from '../ui/field'
import { operate, sentenceOf } from './operate'

const WHAT_TO_TYPE =
  'Type an id (wd_…, usr_…, txn_…, app_… or your own of the person), an address, or the beginning of the name of an app.'
const FOLDERS: Record<string, string> = { withdrawal: 'withdrawals', user: 'users', app: 'apps' }

/** Whether the next page comes of a search: its title takes the focus that went with the form. */
let hasFound = false

/** Finds a deletion, a person or an application. The search text never stands in a URL, because it may be an address. */
export function LookUp() {
  const router = useRouter()
  const find = useMutation({
    async mutationFn(text: string) {
      if (text.trim() === '') throw new ApiError('REQUEST_001', WHAT_TO_TYPE, 0)
      return operate('lookUp', {}, { text })
    },
    onSuccess({ kind, id }) {
      hasFound = true
      router.push(`/admin/${FOLDERS[kind] ?? 'users'}/${encodeURIComponent(id)}`)
    },
  })
  useEffect(() => {
    const title = hasFound && document.querySelector('h1')
    hasFound = false
    if (title) {
      title.tabIndex = -1
      title.focus()
    }
  }, [])
  return (
    <form
      method="post"
      className="@container"
      onSubmit={(event) => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('text')
        if (typeof text === 'string' && !find.isPending) find.mutate(text)
      }}
    >
      <div className="flex flex-col items-start gap-2 @xs:flex-row">
        <TextField
          label="Find a deletion, person or app"
          name="text"
          maxLength={320}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="Id, address or app"
          // The button beside it says what it is for.
          className="w-full min-w-0 flex-1 *:[label]:sr-only"
          onInput={() => find.isError && find.reset()}
          {...(find.error && { error: sentenceOf(find.error) })}
        />
        <Button type="submit" variant="secondary" isPending={find.isPending}>
          Find
        </Button>
      </div>
    </form>
  )
}
