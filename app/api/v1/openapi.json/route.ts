import { openApiDocument } from '@/contract/openapi'
import { publicDocument } from '@/server/http/endpoint'
import { getEnv } from '@/server/settings/env'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = publicDocument(() => {
  const { appUrl, supportEmail, brand } = getEnv()
  const { name: product, url: productUrl, supportUrl, termsUrl } = brand
  return openApiDocument({ product, appUrl, productUrl, supportUrl, supportEmail, termsUrl })
})
