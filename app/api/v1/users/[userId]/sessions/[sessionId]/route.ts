import * as contract from '@/contract/access'
import { endSession } from '@/domain/sessions/sessions'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.endSession, endSession))
