import { serveLogo } from '@/server/pages/logo'

export const GET = serveLogo
