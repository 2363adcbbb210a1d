import * as contract from '@/contract/apps'
import { getAppOf, removeAppOf, setAppOf } from '@/domain/applications/manage'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  endpoint(contract.getApp, getAppOf),
  endpoint(contract.setApp, setAppOf),
  endpoint(contract.removeApp, removeAppOf),
)
