import * as contract from '@/contract/export'
import { exportData } from '@/domain/withdrawal/export-data'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(contract.exportData, exportData))
