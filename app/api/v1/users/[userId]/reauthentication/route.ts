import * as contract from '@/contract/access'
import { startReauthentication } from '@/domain/sessions/reauthenticate'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.startReauthentication, startReauthentication),
)
