'use client'

import { useQuery } from '@tanstack/react-query'
import { listSessions } from '@/contract/access'
import type { Answer } from '@/contract/define'
import { call } from '../api'

export type Session = Answer<typeof listSessions>['sessions'][number]

export const sessionsKey = (userId: string) => ['sessions', userId] as const

/** The sessions as the server rendered them, then as they are: read again on focus. */
export function useSessions(userId: string, initial: Session[]): Session[] {
  const { data } = useQuery({
    queryKey: sessionsKey(userId),
    queryFn: async () => (await call(listSessions, { userId })).sessions,
    initialData: initial,
    refetchOnWindowFocus: 'always',
  })
  return data
}
