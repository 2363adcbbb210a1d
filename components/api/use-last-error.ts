import { useState } from 'react'

/** The error of a query, also while it asks again: a query without data forgets it then, and the page would blink. */
export function useLastError({ data, error }: { data: unknown; error: Error | null }): Error | null {
  const [last, setLast] = useState(error)
  if (error && error !== last) setLast(error)
  return data === undefined ? (error ?? last) : error
}
