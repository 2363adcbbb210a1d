import { serveIcon } from '@/server/pages/logo'

export const GET = serveIcon
