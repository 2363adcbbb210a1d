import { serveAuth } from '@/server/auth'

export { serveAuth as GET, serveAuth as POST }
