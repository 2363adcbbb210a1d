import { refuseOtherMethods } from '@/server/http/methods'
import { manageAsOperator } from '@/server/pages/operator'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ POST: manageAsOperator })
