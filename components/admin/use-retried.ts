import { useState } from 'react'

/** The retried entries that have left the list, because they are done and have no row that could say so. */
export function useRetried(listed: readonly string[]) {
  const [retried, setRetried] = useState<{ id: string; name: string }[]>([])
  return {
    done: retried.filter(({ id }) => !listed.includes(id)),
    add: (id: string, name: string) => setRetried((before) => [...before.filter((one) => one.id !== id), { id, name }]),
  }
}
