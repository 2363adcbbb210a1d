export { metricsPage as GET } from '@/server/metrics-page'
