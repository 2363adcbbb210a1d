import * as contract from '@/contract/access'
import { revokeAccessToken } from '@/domain/sessions/access-tokens'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.revokeAccessToken, revokeAccessToken),
)
