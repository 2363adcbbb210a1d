import { openApiDocument } from '@/contract/openapi'
import { publicDocument } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = publicDocument(openApiDocument)
