import { type ClientOptions, createClient } from '@/contract/client'
import { LINK_OPERATIONS } from '@/contract/link-operations'
import { USER_OPERATIONS } from '@/contract/user-operations'
import type { Calls } from '../api/load-contract'
import { fetchOnServerClock } from '../ui/server-clock'
import { isOtherPerson } from './other-person'

const OPERATIONS = { ...USER_OPERATIONS, ...LINK_OPERATIONS }

export const clientOf = (baseUrl: string, accessToken: ClientOptions['accessToken']) =>
  createClient({ baseUrl, accessToken, fetch: fetchOnServerClock })

/** The same by the operation's name, each with its own token. */
export const callsOf =
  (baseUrl: string): Calls['callWith'] =>
  (accessToken, name, ...given) =>
    clientOf(baseUrl, accessToken)(OPERATIONS[name], ...given).catch((error) => {
      // biome-ignore lint/suspicious/noConsole: the person reads that the browser has another account now, and whoever builds the page has to learn why.
      if (isOtherPerson(error.code)) console.error('userId names another person than the page token.')
      throw error
    })
