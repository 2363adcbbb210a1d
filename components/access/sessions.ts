'use client'

import { useQuery } from '@tanstack/react-query'
import type { listSessions } from '@/contract/access'
import type { Answer } from '@/contract/define'
import { call } from '../load-contract'

export type Session = Answer<typeof listSessions>['sessions'][number]

export const sessionsKey = (userId: string) => ['sessions', userId] as const

/** The sessions that the server rendered; they are read again whenever the window gets the focus. */
export function useSessions(userId: string, initial: Session[]): Session[] {
  const { data } = useQuery({
    queryKey: sessionsKey(userId),
    queryFn: async () => (await call('listSessions', { userId })).sessions,
    initialData: initial,
    refetchOnWindowFocus: 'always',
  })
  return data
}
