import { storableUserAgent } from '@/domain/sessions/sessions'

/** Cut to what is stored; '' if the client sent none. */
export const userAgentOf = (headers: Headers): string => storableUserAgent(headers.get('User-Agent') ?? '')
