import { refuseOtherMethods } from '@/server/http/methods'
import { lookUpAsOperator } from '@/server/pages/operator'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ POST: lookUpAsOperator })
