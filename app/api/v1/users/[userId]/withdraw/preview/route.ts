import * as contract from '@/contract/withdrawal'
import { previewWithdrawal } from '@/domain/withdrawal/preview-withdrawal'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.previewWithdrawal, previewWithdrawal),
)
