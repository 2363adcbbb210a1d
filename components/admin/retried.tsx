'use client'

import { createContext, type ReactNode, useContext, useState } from 'react'

const AddRetried = createContext<(id: string, name: string) => void>(() => {})

/** Tells the list that this entry was retried. */
export const useAddRetried = () => useContext(AddRetried)

interface RetriedProps {
  /** The ids of the entries that are shown. */
  listed: readonly string[]
  children: ReactNode
}

/** A list whose entries can be retried. It names those that have left it, because they have no row that could say that they are done. */
export function Retried({ listed, children }: RetriedProps) {
  const [retried, setRetried] = useState<Record<string, string>>({})
  const done = Object.entries(retried).filter(([id]) => !listed.includes(id))
  return (
    <AddRetried value={(id, name) => setRetried((before) => ({ ...before, [id]: name }))}>
      {children}
      <div role="status" className="space-y-1 text-sm text-success not-empty:mt-4">
        {done.map(([id, name]) => (
          <p key={id} className="wrap-anywhere">
            Tried again: {name} does not fail any more.
          </p>
        ))}
      </div>
    </AddRetried>
  )
}
