import * as contract from '@/contract/withdrawal-request'
import { requestWithdrawal } from '@/domain/withdrawal/request-withdrawal'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.requestWithdrawal, requestWithdrawal),
)
