import { refuseOtherMethods } from '@/server/http/methods'
import { live } from '@/server/watch/health'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ GET: live })
