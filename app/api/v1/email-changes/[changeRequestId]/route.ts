import * as contract from '@/contract/email'
import { getEmailChange } from '@/domain/email/get-email-change'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.getEmailChange, getEmailChange))
