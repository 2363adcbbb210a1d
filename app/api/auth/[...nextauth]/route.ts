import { refuseOtherMethods } from '@/server/http/methods'
import { serveAuth } from '@/server/pages/serve-auth'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ GET: serveAuth, POST: serveAuth })
