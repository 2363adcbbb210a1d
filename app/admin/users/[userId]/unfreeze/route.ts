import { refuseOtherMethods } from '@/server/http/methods'
import { releaseAsOperator } from '@/server/pages/operator'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ POST: releaseAsOperator })
