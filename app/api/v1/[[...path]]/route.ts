import { noSuchPath } from '@/server/http/route'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = noSuchPath
