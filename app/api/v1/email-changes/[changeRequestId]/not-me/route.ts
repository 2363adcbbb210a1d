import * as contract from '@/contract/email'
import { getNotMe } from '@/domain/email/get-not-me'
import { undoEmailChange } from '@/domain/email/undo-email-change'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.getNotMe, getNotMe),
  endpoint(contract.undoEmailChange, undoEmailChange),
)
