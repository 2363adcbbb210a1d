import { refuseOtherMethods } from '@/server/http/methods'
import { metricsPage } from '@/server/watch/metrics-page'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ GET: metricsPage })
