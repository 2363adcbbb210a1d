import { type ClientOptions, createClient } from '@/contract/client'
import { LINK_OPERATIONS } from '@/contract/link-operations'
import { USER_OPERATIONS } from '@/contract/user-operations'
import type { Calls } from '../api/load-contract'
import { fetchOnServerClock } from '../ui/server-clock'
import { isOtherPerson } from './other-person'

const OPERATIONS = { ...USER_OPERATIONS, ...LINK_OPERATIONS }

const ORIGIN = /^https?:\/\/[^/?#]+$/
const USER_ID = /^(?:~[!-~]+|usr_[\w-]+)$/

/** The refusals of a token; one of a password or of an old sign-in is the person's. */
const OF_TOKEN = ['AUTH_001', 'AUTH_002', 'WITHDRAWAL_005']

/** What the console has said, because the parts ask again and again. */
const logged = new Set<string>()

/** The person reads that something is not available, and whoever builds the page has to learn why. */
function logOnce(fault: string) {
  // biome-ignore lint/suspicious/noConsole: it is read while the page is built.
  if (!logged.has(fault)) console.error(fault)
  logged.add(fault)
}

export function clientOf(baseUrl: string, accessToken: ClientOptions['accessToken']) {
  if (!ORIGIN.test(baseUrl))
    logOnce(`The service "${baseUrl}" has to be an origin without a path, such as https://accounts.example.com.`)
  return createClient({ baseUrl, accessToken, fetch: fetchOnServerClock })
}

/** The same by the operation's name, each with its own token. */
export const callsOf =
  (baseUrl: string): Calls['callWith'] =>
  (accessToken, name, ...given) =>
    clientOf(baseUrl, accessToken)(OPERATIONS[name], ...given).catch((error) => {
      const { userId = '' }: { userId?: string } = given[0] ?? {}
      if (isOtherPerson(error))
        logOnce(
          USER_ID.test(userId)
            ? `The user "${userId}" is another person than the one of the page token.`
            : `The user "${userId}" has to be ~ and your own id of the person, such as ~customer-6.`,
        )
      else if (error.status > 0 && OF_TOKEN.includes(error.code))
        logOnce(`The service refused the token of ${name}. ${error.details}`)
      throw error
    })
