import * as contract from '@/contract/mail-events'
import { receiveMailEvents } from '@/domain/accounts/mail-events'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.receiveMailEvents, receiveMailEvents),
)
