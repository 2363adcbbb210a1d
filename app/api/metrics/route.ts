import { allowing } from '@/server/allowing'
import { metricsPage } from '@/server/metrics-page'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = allowing({ GET: metricsPage })
