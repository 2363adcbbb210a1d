'use client'

import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ServiceHost } from '@/components/host/service-host'
import { RenderedAt, startServerClock } from '@/components/ui/server-clock'
import { ApiError } from '@/contract/errors'

const isTransient = (error: Error) => error instanceof ApiError && error.code === 'SERVER_002'

export function Providers({ renderedAt, children }: { renderedAt: string; children: ReactNode }) {
  const [client] = useState(
    () =>
      new QueryClient({
        // Without networkMode, a press made offline would wait and take effect when the network comes back.
        defaultOptions: {
          mutations: { networkMode: 'always' },
          queries: {
            networkMode: 'always',
            refetchOnReconnect: true,
            retry: (failures, error) => isTransient(error) && failures < 2,
          },
        },
      }),
  )
  useState(() => startServerClock(renderedAt))
  return (
    <QueryClientProvider client={client}>
      <RenderedAt value={renderedAt}>
        <ServiceHost>{children}</ServiceHost>
      </RenderedAt>
    </QueryClientProvider>
  )
}
