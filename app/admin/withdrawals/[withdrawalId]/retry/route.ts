export { retryAsOperator as POST } from '@/server/operator'
