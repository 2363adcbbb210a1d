import { openApiDocument } from '@/contract/openapi'
import { getEnv } from '../settings/env'
import { publicDocument } from './route'

/** The exports of the route file of the OpenAPI document, which carries the adopter's names and addresses. */
export const openApi = publicDocument(() => {
  const { appUrl, supportEmail, brand } = getEnv()
  const { name: product, url: productUrl, supportUrl, termsUrl } = brand
  return openApiDocument({ product, appUrl, productUrl, supportUrl, supportEmail, termsUrl })
})
