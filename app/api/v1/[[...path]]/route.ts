import { noSuchPath } from '@/server/endpoint'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = noSuchPath
