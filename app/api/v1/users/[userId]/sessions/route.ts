import * as contract from '@/contract/access'
import { endOtherSessions, listSessions } from '@/domain/sessions/sessions'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.listSessions, listSessions),
  endpoint(contract.endOtherSessions, endOtherSessions),
)
