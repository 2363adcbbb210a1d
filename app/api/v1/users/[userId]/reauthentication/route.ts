import * as contract from '@/contract/access'
import { startReauthentication } from '@/domain/access/reauthenticate'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.startReauthentication, startReauthentication),
)
