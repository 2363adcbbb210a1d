import * as contract from '@/contract/operator'
import { lookUpOf } from '@/domain/accounts/look-up'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.lookUp, lookUpOf))
