import * as contract from '@/contract/withdrawal-request'
import { previewRequestedWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.previewRequestedWithdrawal, previewRequestedWithdrawal),
)
