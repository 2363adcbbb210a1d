import { refuseOtherMethods } from '@/server/http/methods'
import { retryAsOperator } from '@/server/pages/operator'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ POST: retryAsOperator })
