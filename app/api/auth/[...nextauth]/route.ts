import { allowing } from '@/server/allowing'
import { serveAuth } from '@/server/auth'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = allowing({ GET: serveAuth, POST: serveAuth })
