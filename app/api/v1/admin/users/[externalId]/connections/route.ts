import * as contract from '@/contract/connections'
import { listConnections } from '@/domain/applications/connect'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.listConnections, listConnections),
)
