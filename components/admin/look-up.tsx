'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { Button } from '../ui/button'
import { TextField } from '../ui/field'
import { operate, sentenceOf } from './operate'

/** Finds a deletion or a person. The search text never stands in a URL, because it may be an address. */
export function LookUp() {
  const router = useRouter()
  const find = useMutation({
    mutationFn: (text: string) => operate('lookUp', {}, { text }),
    onSuccess: ({ kind, id }) =>
      router.push(`/admin/${kind === 'withdrawal' ? 'withdrawals' : 'users'}/${encodeURIComponent(id)}`),
  })
  return (
    <form
      method="post"
      className="flex items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('text')
        if (typeof text === 'string' && text.trim() && !find.isPending) find.mutate(text)
      }}
    >
      <TextField
        label="Find a deletion or a person"
        name="text"
        maxLength={320}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="Id, external id or address"
        className="min-w-0 flex-1"
        onInput={() => find.isError && find.reset()}
        {...(find.error && { error: sentenceOf(find.error) })}
      />
      <Button type="submit" variant="secondary" isPending={find.isPending} className="mt-7.5">
        Find
      </Button>
    </form>
  )
}
