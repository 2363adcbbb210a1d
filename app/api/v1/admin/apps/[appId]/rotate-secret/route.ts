import * as contract from '@/contract/apps'
import { rotateAppSecret } from '@/domain/applications/manage'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.rotateAppSecret, rotateAppSecret),
)
