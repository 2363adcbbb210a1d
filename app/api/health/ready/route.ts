import { allowing } from '@/server/allowing'
import { ready } from '@/server/health'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = allowing({ GET: ready })
