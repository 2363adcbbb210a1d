import { listReceipts } from '@/contract/receipt'
import { listReceipts as verb } from '@/domain/withdrawal/receipts/receipts'
import { endpoint, route } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(endpoint(listReceipts, verb))
