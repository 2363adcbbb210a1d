import { refuseOtherMethods } from '@/server/http/methods'
import { changePasswordPage } from '@/server/http/well-known'

export const dynamic = 'force-dynamic'
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = refuseOtherMethods({ GET: changePasswordPage })
