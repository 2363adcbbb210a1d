import { storableUserAgent } from '@/domain/sessions/sessions'

/** As it was sent, at most 300 characters; '' if none was. */
export const userAgentOf = (headers: Headers): string => storableUserAgent(headers.get('User-Agent') ?? '')
