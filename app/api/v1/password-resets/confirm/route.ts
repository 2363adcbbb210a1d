import * as contract from '@/contract/password'
import { confirmPasswordReset } from '@/domain/access/confirm-password-reset'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.confirmPasswordReset, confirmPasswordReset),
)
