import { openApiDocument } from '@/contract/openapi'
import { getEnv } from '@/server/env'
import { publicDocument } from '@/server/http/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = publicDocument(() => {
  const { appUrl, supportEmail, brand } = getEnv()
  const { name: product, url: productUrl, supportUrl, termsUrl } = brand
  return openApiDocument({ product, appUrl, productUrl, supportUrl, supportEmail, termsUrl })
})
