'use client'

import { type Query, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { createClient } from '@/contract/client'
import type { Answer } from '@/contract/define'
import { ApiError } from '@/contract/errors'
import { getWithdrawalStatus } from '@/contract/withdrawal'
import { fetchOnServerClock } from '../ui/server-clock'

export type WithdrawalStatus = Answer<typeof getWithdrawalStatus>

interface Source {
  userId: string
  withdrawalId: string
  /** Goes nowhere but into the header of this one call. */
  token: string
}

const FASTEST_MS = 1_000
const SLOWEST_MS = 30_000
const GROWTH = 1.25

/** Reads the progress again and again: soon after something has changed, more and more rarely while nothing does, never once completed. */
export function useWithdrawalStatus({ userId, withdrawalId, token }: Source) {
  const [client] = useState(() => createClient({ accessToken: () => token, fetch: fetchOnServerClock }))
  const [nextReadMs] = useState(createBackOff)
  return useQuery({
    // By its token too: another link must not show what this one could read.
    queryKey: ['withdrawal-status', withdrawalId, token],
    queryFn: () => client(getWithdrawalStatus, { userId, withdrawalId }),
    retry: false,
    gcTime: 0,
    refetchInterval: nextReadMs,
    refetchOnWindowFocus: (query) => (isFinal(query) ? false : 'always'),
    refetchOnReconnect: (query) => (isFinal(query) ? false : 'always'),
  })
}

type StatusQuery = Query<WithdrawalStatus, Error, WithdrawalStatus, string[]>

/** No later read would tell anything else. */
const isFinal = ({ state: { data, error } }: StatusQuery) => data?.status === 'completed' || isRefusal(error)

/** The link opens nothing (any more). */
export const isRefusal = (error: unknown) =>
  error instanceof ApiError && ['AUTH_001', 'WITHDRAWAL_004', 'WITHDRAWAL_005'].includes(error.code)

function createBackOff() {
  let seen: WithdrawalStatus | undefined
  let readsWhenSeen = 0
  return (query: StatusQuery) => {
    const { data, error, dataUpdateCount, errorUpdateCount } = query.state
    if (isFinal(query)) return false
    const reads = dataUpdateCount + errorUpdateCount
    // An equal answer is the same object.
    if (data !== seen) {
      seen = data
      readsWhenSeen = reads
    }
    const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
    return Math.max(asked, Math.min(FASTEST_MS * GROWTH ** (reads - readsWhenSeen), SLOWEST_MS))
  }
}
