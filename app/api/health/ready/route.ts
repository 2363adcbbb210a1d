import { refuseOtherMethods } from '@/server/http/methods'
import { ready } from '@/server/watch/health'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ GET: ready })
