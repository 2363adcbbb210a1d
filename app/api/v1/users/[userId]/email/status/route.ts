import * as contract from '@/contract/email'
import { getEmailStatus } from '@/domain/email/get-email-status'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.getEmailStatus, getEmailStatus))
