import { type ClientOptions, createClient } from '@/contract/client'
import { LINK_OPERATIONS } from '@/contract/link-operations'
import { USER_OPERATIONS } from '@/contract/user-operations'
import type { Calls } from '../api/load-contract'
import { fetchOnServerClock } from '../ui/server-clock'

const OPERATIONS = { ...USER_OPERATIONS, ...LINK_OPERATIONS }

/** Calls of an origin, each with its own token. */
export const clientOf =
  (baseUrl: string): Calls['callWith'] =>
  (accessToken: ClientOptions['accessToken'], name, params, body) =>
    createClient({ baseUrl, accessToken, fetch: fetchOnServerClock })(OPERATIONS[name], params, body)
