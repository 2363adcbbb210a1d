import { useState } from 'react'

/** What was asked for and has left the list since: it is done, and its row can no longer say so. */
export function useAsked(listed: readonly string[]) {
  const [asked, setAsked] = useState<{ id: string; name: string }[]>([])
  return {
    done: asked.filter(({ id }) => !listed.includes(id)),
    ask: (id: string, name: string) => setAsked((before) => [...before.filter((one) => one.id !== id), { id, name }]),
  }
}
