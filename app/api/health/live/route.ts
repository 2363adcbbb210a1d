export { live as GET } from '@/server/health'
