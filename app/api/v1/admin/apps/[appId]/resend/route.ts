import * as contract from '@/contract/apps'
import { resendDeadLetters } from '@/domain/applications/operate-deliveries'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.resendDeadLetters, resendDeadLetters),
)
