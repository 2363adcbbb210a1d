import * as contract from '@/contract/admin'
import { getUser } from '@/domain/accounts/find-user'
import { putUser } from '@/domain/accounts/put-user'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.getUser, getUser),
  endpoint(contract.putUser, putUser),
)
