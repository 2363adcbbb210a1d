import { openApiDocument } from '@/contract/openapi'
import { getEnv } from '@/server/env'
import { publicDocument } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = publicDocument(() =>
  openApiDocument({ product: getEnv().brand.name }),
)
