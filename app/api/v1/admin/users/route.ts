import * as contract from '@/contract/admin'
import { findUser } from '@/domain/accounts/find-user'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.findUser, findUser))
