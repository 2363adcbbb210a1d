import * as contract from '@/contract/operator'
import { retryWithdrawal } from '@/domain/withdrawal/operate-withdrawal'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.retryWithdrawal, retryWithdrawal),
)
