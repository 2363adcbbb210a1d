import { allowing } from '@/server/allowing'
import { retryAsOperator } from '@/server/operator'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = allowing({ POST: retryAsOperator })
