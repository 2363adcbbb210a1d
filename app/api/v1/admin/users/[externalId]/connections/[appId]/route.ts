import * as contract from '@/contract/connections'
import { putConnection, removeConnection } from '@/domain/applications/connect'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.putConnection, putConnection),
  endpoint(contract.removeConnection, removeConnection),
)
