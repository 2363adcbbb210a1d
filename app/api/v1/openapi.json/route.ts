import { openApi } from '@/server/http/openapi-document'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = openApi
