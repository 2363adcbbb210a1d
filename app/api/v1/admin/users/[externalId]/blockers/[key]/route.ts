import * as contract from '@/contract/blockers'
import { putBlocker, removeBlocker } from '@/domain/withdrawal/push-blocker'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.putBlocker, putBlocker),
  endpoint(contract.removeBlocker, removeBlocker),
)
