import * as contract from '@/contract/password'
import { requestPasswordReset } from '@/domain/passwords/request-password-reset'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.requestPasswordReset, requestPasswordReset),
)
