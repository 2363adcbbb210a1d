import * as contract from '@/contract/email'
import { cancelEmailChange } from '@/domain/email/cancel-email-change'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.cancelEmailChange, cancelEmailChange),
)
