import { refuseOtherMethods } from '@/server/http/methods'
import { securityTxt } from '@/server/http/well-known'

export const dynamic = 'force-dynamic'
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ GET: securityTxt })
