import * as contract from '@/contract/admin'
import { listUndeliverableUsers } from '@/domain/accounts/list-undeliverable'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.listUndeliverableUsers, listUndeliverableUsers),
)
