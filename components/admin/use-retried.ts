import { useState } from 'react'

/** What was tried again and has left the list since: it is done, and its row can no longer say so. */
export function useRetried(listed: readonly string[]) {
  const [retried, setRetried] = useState<{ id: string; name: string }[]>([])
  return {
    done: retried.filter(({ id }) => !listed.includes(id)),
    add: (id: string, name: string) => setRetried((before) => [...before.filter((one) => one.id !== id), { id, name }]),
  }
}
