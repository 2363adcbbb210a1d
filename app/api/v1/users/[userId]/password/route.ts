import * as contract from '@/contract/password'
import { changePassword } from '@/domain/passwords/change-password'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.changePassword, changePassword))
