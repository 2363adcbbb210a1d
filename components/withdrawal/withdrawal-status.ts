'use client'

import { type Query, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Answer } from '@/contract/define'
import { ApiError } from '@/contract/errors'
import type { getWithdrawalStatus, StepStatus } from '@/contract/withdrawal'
import { useOnceBack } from '../api/use-once-back'
import { useHost } from '../host/host'

export type WithdrawalStatus = Answer<typeof getWithdrawalStatus>

interface Source {
  userId: string
  withdrawalId: string
  /** The status token, which only the header of this call carries. */
  token: string
}

const MIN_INTERVAL_MS = 1_000
const MAX_INTERVAL_MS = 30_000
const GROWTH = 1.25

/** Polls the progress with a back-off that starts again after each change, and stops when the withdrawal is completed. */
export function useWithdrawalStatus({ userId, withdrawalId, token }: Source) {
  const { callWith } = useHost()
  const [nextReadMs] = useState(createBackOff)
  const query = useQuery({
    // The key holds the token, so that another link does not show what this one could read.
    queryKey: ['withdrawal-status', withdrawalId, token],
    queryFn: () => callWith(() => token, 'getWithdrawalStatus', { userId, withdrawalId }),
    retry: false,
    gcTime: 0,
    refetchInterval: nextReadMs,
    refetchOnWindowFocus: whileOpen,
    refetchOnReconnect: whileOpen,
  })
  useOnceBack(query.error, query.refetch)
  return query
}

type StatusQuery = Query<WithdrawalStatus, Error, WithdrawalStatus, string[]>

/** No later read can have another result. */
const isFinal = ({ state: { data, error } }: StatusQuery) => data?.status === 'completed' || isRefusal(error)

const whileOpen = (query: StatusQuery) => (isFinal(query) ? false : ('always' as const))

/** The link does not open the progress, or no longer does. */
export const isRefusal = (error: unknown) =>
  error instanceof ApiError && ['AUTH_001', 'WITHDRAWAL_004', 'WITHDRAWAL_005'].includes(error.code)

function createBackOff() {
  let seen: WithdrawalStatus | undefined
  let readsWhenSeen = 0
  return (query: StatusQuery) => {
    const { data, error, dataUpdateCount, errorUpdateCount } = query.state
    if (isFinal(query)) return false
    const reads = dataUpdateCount + errorUpdateCount
    // The query keeps the same object while the answers are equal.
    if (data !== seen) {
      seen = data
      readsWhenSeen = reads
    }
    const wait = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
    return Math.max(wait, Math.min(MIN_INTERVAL_MS * GROWTH ** (reads - readsWhenSeen), MAX_INTERVAL_MS))
  }
}

/** A status that this page does not know yet counts as in progress. */
export const stateOf = (status: string): StepStatus =>
  status === 'completed' || status === 'pending' ? status : 'processing'
