import { allowing } from '@/server/allowing'
import { live } from '@/server/health'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = allowing({ GET: live })
