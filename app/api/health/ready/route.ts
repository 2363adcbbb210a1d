export { ready as GET } from '@/server/health'
