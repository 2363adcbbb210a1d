import * as contract from '@/contract/password'
import { confirmPasswordReset } from '@/domain/passwords/confirm-password-reset'
import { getPasswordReset } from '@/domain/passwords/get-password-reset'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.getPasswordReset, getPasswordReset),
  endpoint(contract.confirmPasswordReset, confirmPasswordReset),
)
