import * as contract from '@/contract/apps'
import { getApp, removeApp, setApp } from '@/domain/applications/manage'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.getApp, getApp),
  endpoint(contract.setApp, setApp),
  endpoint(contract.removeApp, removeApp),
)
