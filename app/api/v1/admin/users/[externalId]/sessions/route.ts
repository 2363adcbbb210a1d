import * as contract from '@/contract/admin'
import { endUserSessions } from '@/domain/sessions/end-user-sessions'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.endUserSessions, endUserSessions),
)
