import * as contract from '@/contract/operator'
import { retryWithdrawalOf } from '@/domain/withdrawal/operate-withdrawal'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.retryWithdrawal, retryWithdrawalOf),
)
