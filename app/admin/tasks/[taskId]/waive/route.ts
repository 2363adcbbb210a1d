import { refuseOtherMethods } from '@/server/http/methods'
import { waiveTaskAsOperator } from '@/server/pages/operator'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ POST: waiveTaskAsOperator })
