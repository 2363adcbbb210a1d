import * as contract from '@/contract/withdrawal-request'
import { confirmRequestedWithdrawal } from '@/domain/withdrawal/withdraw-account'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.confirmRequestedWithdrawal, confirmRequestedWithdrawal),
)
