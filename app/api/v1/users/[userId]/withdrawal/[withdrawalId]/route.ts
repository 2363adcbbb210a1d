import * as contract from '@/contract/withdrawal'
import { getWithdrawalStatus } from '@/domain/withdrawal/get-withdrawal-status'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.getWithdrawalStatus, getWithdrawalStatus),
)
