import * as contract from '@/contract/email'
import { verifyEmail } from '@/domain/email/verify-email'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.verifyEmail, verifyEmail))
