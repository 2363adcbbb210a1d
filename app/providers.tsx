'use client'

import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ApiError } from '@/contract/errors'

const isPassing = (error: Error) => error instanceof ApiError && error.code === 'SERVER_002'

export function Providers({ children }: { children: ReactNode }) {
  const [client] = useState(
    () =>
      new QueryClient({
        defaultOptions: { queries: { retry: (failures, error) => isPassing(error) && failures < 2 } },
      }),
  )
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>
}
