import { openApiDocument } from '@/contract/openapi'
import { publicDocument } from '@/server/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = publicDocument(openApiDocument)
