'use client'

import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useIsBeginningDeletion } from '../withdrawal/use-begin-deletion'

interface RenderedQuery<Data> extends Pick<UseQueryOptions<Data>, 'staleTime' | 'refetchInterval'> {
  queryKey: readonly string[]
  read: () => Promise<Data>
  initialData: Data
  renderedAt: string
}

/** Data that the server rendered with the page. It is read again whenever the window gets the focus. */
export function useRenderedQuery<Data>({ read, renderedAt, ...options }: RenderedQuery<Data>): Data {
  const enabled = !useIsBeginningDeletion()
  const { data } = useQuery<Data>({
    ...options,
    enabled,
    queryFn: read,
    initialDataUpdatedAt: Date.parse(renderedAt),
    refetchOnWindowFocus: 'always',
  })
  // The initial data is never undefined.
  return data as Data
}
