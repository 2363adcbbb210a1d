import * as contract from '@/contract/withdrawal'
import { withdrawAccount } from '@/domain/withdrawal/withdraw-account'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.withdrawAccount, withdrawAccount),
)
