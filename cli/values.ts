import type * as z from 'zod'
import { tokenName } from '@/contract/access'
import { type Amount, parseAmount } from '@/contract/amount'
import { appSettings } from '@/contract/apps'
import { blockerTitle, linkOf } from '@/contract/blockers'
import { AppError, parseIssueMessage } from '@/contract/errors'
import { problemOfOutsideId } from '@/contract/fields'
import { WAIVE_REASONS } from '@/contract/vocabulary'
import { wholeIdOf } from '@/domain/accounts/look-up'
import { sentenceOf } from '@/domain/applications/operate-tasks'
import type { SystemContext } from '@/domain/context'
import { unknownUser } from '@/domain/lock-account'
import { showUser } from '@/domain/withdrawal/show-account'
import { createEndpointRule } from '@/server/adapters/app-caller'
import { getEnv } from '@/server/settings/env'
import { nearestName } from '@/server/settings/nearest-name'
import { parseDuration } from '@/server/settings/setting-fields'
import { ENGLISH } from '@/server/texts/catalogue'
import { UsageError } from './command.ts'

const MAX_TOKEN_MS = 100 * 365 * 24 * 60 * 60 * 1000

/** Whether its address is public is for the verb to say, because a check may call one on this machine. */
export function toEndpoint(endpoint: string, option: string): string {
  const problem = createEndpointRule({ ...getEnv(), allowsPrivateEndpoints: true })(endpoint)
  if (problem) throw new UsageError(problem.replace('endpoint', option))
  return endpoint
}

export const waiveReason = {
  value: 'REASON',
  choices: WAIVE_REASONS,
  orElse: "a code of the application's --waive-reason",
  means: `What the person reads. ${WAIVE_REASONS.map((reason) => `${reason}: “${ENGLISH.Deletion.apps.waived[reason]}”`).join(' ')}`,
} as const

/** What the person reads of a reason; refuses one that the application has not. */
export const sentenceOfReason = (registered: readonly string[], reason: string): string =>
  sentenceOf(registered, reason) ?? ENGLISH.Deletion.apps.waived[reason as 'gone']

/** In the form in which a URL has it. */
export function toHost(host: string): string {
  const url = URL.canParse(`https://${host}/`) ? new URL(`https://${host}/`) : null
  if (!url || url.href !== `https://${url.host}/`) {
    throw new UsageError('--host must be a host such as billing.example.com, without a scheme or a path.')
  }
  return url.host
}

export function toLifetimeMs(duration: string): number {
  const lifetimeMs = parseDuration(duration)
  if (!lifetimeMs || lifetimeMs > MAX_TOKEN_MS) {
    throw new UsageError('--expires-in must be an ISO 8601 duration such as P30D or PT1H, of a hundred years at most.')
  }
  return lifetimeMs
}

export function toSeconds(duration: string): number {
  const seconds = (parseDuration(duration) ?? 0) / 1000
  if (!appSettings.shape.acknowledge_within_seconds.safeParse(seconds).success) {
    throw new UsageError('--acknowledge-within must be an ISO 8601 duration such as PT24H, from PT1M to P30D.')
  }
  return seconds
}

/** For the help. */
export const TIME_FORM = 'ISO 8601, such as 2026-11-20T09:00:00Z; a day alone begins in UTC.'

export function toTime(text: string, option: string): Date {
  const time = new Date(text)
  if (!/^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/.test(text) || Number.isNaN(time.getTime())) {
    throw new UsageError(`${option} must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z.`)
  }
  return time
}

export function toSubject(text: string): string {
  const problem = problemOfOutsideId(text)
  if (problem) throw new UsageError(`--subject ${problem}`)
  return text
}

export function toVersion(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError('--if-version must be a whole number, as user show prints it.')
  return Number(text)
}

export const toTokenName = (text: string): string => parsed(tokenName, text)
export const toTitle = (text: string): string => parsed(blockerTitle, text)

/** The rules of the API name the option that has the name of the field. */
function parsed(rule: z.ZodType<string>, text: string): string {
  const { data, error } = rule.safeParse(text)
  if (data === undefined) throw new UsageError(`--${parseIssueMessage(error?.issues[0]?.message ?? '').details}`)
  return data
}

export function toLink(text: string): string {
  const allowsHttp = !getEnv().isProduction
  const link = linkOf(text, { hosts: null, allowsHttp })
  const schemes = allowsHttp ? 'https:// or http://' : 'https://'
  if (!link) throw new UsageError(`--url must be a URL that begins with ${schemes} and holds no password.`)
  return link
}

export function toAmount(text: string): Amount {
  const amount = parseAmount(text)
  if (!amount) {
    throw new UsageError(
      '--amount must be a number and a currency of ISO 4217, such as 12.50EUR, 12EUR or 1250JPY, with all decimals of the currency or none.',
    )
  }
  return amount
}

/** An application, by its id or by its name, where no other has it; capitals matter only where two names differ in them alone. */
export const namedApp = {
  value: 'APP',
  find: appIdOf,
  means: 'The application, by its app_… or its name.',
} as const

async function appIdOf(ctx: SystemContext, given: string): Promise<string> {
  if (given.startsWith('app_')) return wholeIdOf(ctx, given)
  const all = await ctx.db.connectedApp.findMany({ select: { id: true, name: true }, orderBy: { id: 'asc' } })
  const exact = all.filter(({ name }) => name === given)
  const apps = exact.length > 0 ? exact : all.filter(({ name }) => name.toLowerCase() === given.toLowerCase())
  if (apps.length > 1) {
    const named = apps.map(({ id, name }) => `${id} (${name})`).join(', ')
    throw new AppError('REQUEST_001', `Several applications have this name: ${named}. Give the ID of one.`)
  }
  if (apps[0]) return apps[0].id
  const meant = namesMeant(given, [...new Set(all.map(({ name }) => name))].sort())
  const hint = meant.length > 0 ? `. Did you mean ${EITHER.format(meant)}?` : ': app list shows all of them.'
  throw new AppError('REQUEST_005', `There is no application with this name${hint}`)
}

const EITHER = new Intl.ListFormat('en', { type: 'disjunction' })
/** More names are no hint. */
const MAX_MEANT = 5

/** Those of which a word begins so, else the one that differs by a slip. */
function namesMeant(given: string, names: string[]): string[] {
  const [wanted, ...lower] = [given, ...names].map((name) => name.toLowerCase())
  const nearest = nearestName(wanted ?? '', lower)
  const matches = given === '' ? [] : names.filter((_, at) => ` ${lower[at]}`.includes(` ${wanted}`))
  const meant = matches.length > 0 ? matches : names.filter((_, at) => lower[at] === nearest)
  return meant.length > MAX_MEANT ? [] : meant
}

/** A withdrawal and an account, each by its id. */
export const withdrawal = { value: 'wd_…', find: wholeIdOf, means: 'The withdrawal.' } as const
export const account = { value: 'usr_…', find: wholeIdOf, means: 'The account.' } as const

export const address = { value: 'ADDRESS', means: 'The address of the account.' } as const

const namedBy = (find: (ctx: SystemContext, email: string) => Promise<string>) =>
  ({ user: { ...account, read: toUserId }, email: { ...address, find } }) as const

/** An account to look at, which is named by one of both. */
export const anyAccount = namedBy(async (ctx, email) => (await showUser(ctx, { email })).user_id)

/** One to act on: an address that nobody has verified may be of a stranger, and names none. */
export const namedAccount = namedBy(verifiedAccount)

export async function verifiedAccount(ctx: SystemContext, email: string): Promise<string> {
  const found = await showUser(ctx, { email })
  if (found.email_verified) return found.user_id
  throw new AppError(
    'REQUEST_001',
    'Nobody has verified this address, so it may be of a stranger. Name the account by --user.',
  )
}

/** The id of the account; that of an address was found when the options were read. */
export const idOf = ({ user, email }: { user?: string | undefined; email?: string | undefined }): string =>
  user ?? email ?? ''

/** Such as “Ada Lovelace (ada@example.com)”, for a question; refuses an account that is not active. */
export async function personOf(ctx: SystemContext, userId: string): Promise<string> {
  await checkActiveUser(ctx, userId)
  const { name, email } = await showUser(ctx, { userId })
  return `${name} (${email})`
}

function toUserId(text: string): string {
  if (text.includes('@')) throw new UsageError('--user takes an ID, usr_…; give an address by --email.')
  return text
}

export async function checkActiveUser(ctx: SystemContext, id: string): Promise<void> {
  const isActive = (await ctx.db.user.count({ where: { id, withdrawnAt: null } })) > 0
  if (!isActive) throw unknownUser()
}
