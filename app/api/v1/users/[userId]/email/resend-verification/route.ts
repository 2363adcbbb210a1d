import * as contract from '@/contract/email'
import { resendVerification } from '@/domain/email/resend-verification'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.resendVerification, resendVerification),
)
