'use client'

import type { listSessions } from '@/contract/access'
import type { Answer } from '@/contract/define'
import { call } from '../api/load-contract'
import { useRenderedQuery } from '../api/use-rendered-query'

export type Session = Answer<typeof listSessions>['sessions'][number]

export const sessionsKey = (userId: string) => ['sessions', userId] as const

export const useSessions = (userId: string, initialData: Session[], renderedAt: string): Session[] =>
  useRenderedQuery({
    queryKey: sessionsKey(userId),
    read: async () => (await call('listSessions', { userId })).sessions,
    initialData,
    renderedAt,
  })
