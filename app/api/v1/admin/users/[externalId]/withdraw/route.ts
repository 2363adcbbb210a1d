import * as contract from '@/contract/admin'
import { withdrawUser } from '@/domain/withdrawal/withdraw-account'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.withdrawUser, withdrawUser))
