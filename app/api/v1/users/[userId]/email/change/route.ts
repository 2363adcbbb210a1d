import * as contract from '@/contract/email'
import { changeEmail } from '@/domain/email/change-email'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.changeEmail, changeEmail))
