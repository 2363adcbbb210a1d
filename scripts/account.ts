import { randomBytes } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { tokenName } from '@/contract/access'
import { GRANTABLE_SCOPES, type GrantableScope, isStorable, SERVICE_SCOPES, type ServiceScope } from '@/contract/define'
import { AppError, CONFIRMATION, parseIssueMessage } from '@/contract/errors'
import { withdrawBody } from '@/contract/withdrawal'
import { issueAccessToken, liveTokensOf, revokeAllTokens, revokeTokenOf } from '@/domain/access/access-tokens'
import { exportUsers } from '@/domain/access/export-users'
import { setRole } from '@/domain/access/operators'
import { issueServiceToken, listServiceTokens, revokeServiceToken } from '@/domain/access/service-tokens'
import { endAllSessions, endSessionOf, openSessionsOf } from '@/domain/access/sessions'
import { showUser } from '@/domain/access/show-user'
import { createUser, setPassword } from '@/domain/access/user'
import { acceptLostArchives, writeArchive } from '@/domain/applications/archives'
import { connectApp, registerApp } from '@/domain/applications/deliver'
import { addTransaction, endTransaction } from '@/domain/applications/transactions'
import type { SystemContext } from '@/domain/context'
import { EVENT_TYPES, type EventType } from '@/domain/queue/events'
import { resealSecrets } from '@/domain/reseal-secrets'
import { retryWithdrawal, showWithdrawal } from '@/domain/withdrawal/operate-withdrawal'
import { replayErasureLedger } from '@/domain/withdrawal/replay-erasure-ledger'
import { withdrawByOperator } from '@/domain/withdrawal/withdraw-account'
import { getEnv, parseDuration } from '@/server/env'
import { importUsers } from './import-users.ts'

/** The operator's command is wrong; the message says how. */
class UsageError extends Error {}

type Values = Record<string, string | string[] | boolean | undefined>
/** Reads standard input to its end; null in a batch, where it holds the commands. */
export type ReadInput = (() => Promise<string>) | null

interface Command {
  /** The arguments after the name, as the help shows them. */
  usage: string
  /** One sentence for the help. */
  does: string
  options: NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>
  /** Whether an id follows without an option's name; with `or-options`, options can replace it. */
  id?: 'required' | 'or-options'
  run(ctx: SystemContext, values: Values, id: string, readInput: ReadInput): Promise<Answer>
}

/** One object; or many, which come in parts and are printed a line each. */
export type Answer = object | AsyncIterable<object[]>

const MAX_TOKEN_MS = 100 * 365 * 24 * 60 * 60 * 1000
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const COMMANDS: Record<string, Command> = {
  'user create': {
    usage: '--email ADDRESS --name NAME (--password PASSWORD | --password-stdin) [--verified]',
    does: 'Creates an account.',
    options: { email: text, password: text, 'password-stdin': flag, name: text, verified: flag },
    async run(ctx, values, _id, readInput) {
      const input = {
        email: required(values, 'email'),
        name: required(values, 'name'),
        password: await passwordOf(values, readInput),
      }
      return { user_id: await createUser(ctx, { ...input, emailVerified: values.verified === true }) }
    },
  },
  'user set-password': {
    usage: '--user usr_… (--password PASSWORD | --password-stdin) [--keep-tokens]',
    does: 'Sets a password of at least 8 characters, ends every session and access token, and cancels a pending change.',
    options: { user: text, password: text, 'password-stdin': flag, 'keep-tokens': flag },
    async run(ctx, values, _id, readInput) {
      const userId = required(values, 'user')
      const password = await passwordOf(values, readInput)
      await setPassword(ctx, { userId, password, keepTokens: values['keep-tokens'] === true })
      return { user_id: userId }
    },
  },
  'user show': {
    usage: 'usr_… | --user usr_… | --email ADDRESS | --external-id ID',
    does: 'Shows an account and its pending change.',
    options: { user: text, email: text, 'external-id': text },
    id: 'or-options',
    run(ctx, values, id) {
      const { user, ...others } = oneOf({ id, user: values.user, ...identifiersOf(values) })
      return showUser(ctx, byIdentifier(others) ?? { userId: user ?? id })
    },
  },
  'user find': {
    usage: '--email ADDRESS | --external-id ID',
    does: 'Shows the account that has this address, or this id of yours.',
    options: { email: text, 'external-id': text },
    run: (ctx, values) => showUser(ctx, byIdentifier(oneOf(identifiersOf(values))) as { email: string }),
  },
  'user set-role': {
    usage: '--user usr_… --role operator|none',
    does: 'Lets a user open /admin, or no longer.',
    options: { user: text, role: text },
    async run(ctx, values) {
      const userId = required(values, 'user')
      const role = required(values, 'role')
      if (role !== 'operator' && role !== 'none') throw new UsageError('--role must be operator or none.')
      await setRole(ctx, { userId, role: role === 'none' ? null : role })
      return { user_id: userId, role }
    },
  },
  'user import': {
    usage: '--file users.ndjson [--check]',
    does: 'Creates the accounts of a file, one JSON object a line, and prints a result for each; --check prints every problem and writes nothing.',
    options: { file: text, check: flag },
    async run(ctx, values, _id, readInput) {
      if (!readInput) throw new UsageError('user import does not work in a batch: it prints many lines.')
      const file = await openFile(required(values, 'file'))
      return importUsers(ctx, { file, check: values.check === true, tell: (line) => process.stderr.write(`${line}\n`) })
    },
  },
  'user export': {
    usage: '--all',
    does: 'Prints every account that is not withdrawn, with its password hash, a line each as user import reads it.',
    options: { all: flag },
    async run(ctx, values, _id, readInput) {
      if (values.all !== true) throw new UsageError('--all is missing.')
      if (!readInput) throw new UsageError('user export does not work in a batch: it prints many lines.')
      return exportUsers(ctx)
    },
  },
  'token create': {
    usage: '--user usr_… --scope SCOPE [--scope SCOPE] [--expires-in P30D] [--name NAME]',
    does: 'Creates an access token and shows it this once.',
    options: { user: text, scope: { type: 'string', multiple: true }, 'expires-in': text, name: text },
    async run(ctx, values) {
      const expiresInMs = lifetimeOf(values, 'P30D')
      const name = checkTokenName(values.name ?? 'operator')
      const { accessToken, expiresAt } = await issueAccessToken(ctx, {
        userId: required(values, 'user'),
        name,
        scopes: toScopes(values.scope as string[] | undefined),
        expiresInMs,
        actor: 'operator',
      })
      return { access_token: accessToken, expires_at: expiresAt.toISOString() }
    },
  },
  'token list': {
    usage: '--user usr_…',
    does: 'Lists the access tokens that work, newest first.',
    options: { user: text },
    async run(ctx, values) {
      const user_id = await activeUser(ctx, values)
      return { user_id, access_tokens: await liveTokensOf(ctx, user_id) }
    },
  },
  'token revoke': {
    usage: 'tok_… | --user usr_…',
    does: 'Revokes one access token, or all of a user.',
    options: { user: text },
    id: 'or-options',
    async run(ctx, values, id) {
      const { user } = oneOf({ id, user: values.user })
      if (user !== undefined) return { user_id: user, revoked: await revokeAllTokens(ctx, user) }
      const { userId } = await revokeTokenOf(ctx, id)
      return { user_id: userId, token_id: id, revoked: 1 }
    },
  },
  'service-token create': {
    usage: '--name NAME --scope SCOPE [--scope SCOPE …] [--host HOST …] [--expires-in P365D]',
    does: 'Creates a token for a service of yours, which opens the admin API alone, and shows it this once.',
    options: {
      name: text,
      scope: { type: 'string', multiple: true },
      host: { type: 'string', multiple: true },
      'expires-in': text,
    },
    async run(ctx, values) {
      const { id, serviceToken, expiresAt } = await issueServiceToken(ctx, {
        name: checkTokenName(required(values, 'name')),
        scopes: toServiceScopes(values.scope as string[] | undefined),
        hosts: [...new Set((values.host as string[] | undefined)?.map(checkHost))],
        expiresInMs: lifetimeOf(values, 'P365D'),
      })
      return { service_token_id: id, service_token: serviceToken, expires_at: expiresAt.toISOString() }
    },
  },
  'service-token list': {
    usage: '',
    does: 'Lists the service tokens that work, newest first.',
    options: {},
    run: async (ctx) => ({ service_tokens: await listServiceTokens(ctx) }),
  },
  'service-token revoke': {
    usage: 'svt_…',
    does: 'Revokes a service token.',
    options: {},
    id: 'required',
    async run(ctx, _values, id) {
      await revokeServiceToken(ctx, id)
      return { service_token_id: id, revoked: true }
    },
  },
  'session list': {
    usage: '--user usr_…',
    does: 'Lists the browser sessions that are signed in, last seen first.',
    options: { user: text },
    async run(ctx, values) {
      const user_id = await activeUser(ctx, values)
      return { user_id, sessions: await openSessionsOf(ctx, user_id) }
    },
  },
  'session end': {
    usage: 'ses_… | --user usr_…',
    does: 'Ends one browser session; or all of a user, which also cancels a pending change.',
    options: { user: text },
    id: 'or-options',
    async run(ctx, values, id) {
      const { user } = oneOf({ id, user: values.user })
      if (user !== undefined) return { user_id: user, ended: await endAllSessions(ctx, user) }
      const { userId } = await endSessionOf(ctx, id)
      return { user_id: userId, session_id: id, ended: 1 }
    },
  },
  'transaction add': {
    usage: '--user usr_… --status pending|settled [--description TEXT] [--amount-cents N]',
    does: 'Records a transaction; a pending one holds a withdrawal back.',
    options: { user: text, status: text, description: text, 'amount-cents': text },
    async run(ctx, values) {
      const status = required(values, 'status')
      if (status !== 'pending' && status !== 'settled') throw new UsageError('--status must be pending or settled.')
      const amount = String(values['amount-cents'] ?? '0')
      if (!/^\d{1,9}$/.test(amount)) throw new UsageError('--amount-cents must be a whole number.')
      const description = String(values.description ?? 'Added by the operator')
      const input = {
        userId: required(values, 'user'),
        status,
        description,
        amountCents: Number(amount),
        ip: '',
      } as const
      return { transaction_id: await addTransaction(ctx, input) }
    },
  },
  'transaction settle': {
    usage: 'txn_…',
    does: 'Ends a pending transaction as settled.',
    options: {},
    id: 'required',
    async run(ctx, _values, id) {
      await endTransaction(ctx, { id, status: 'settled' })
      return { transaction_id: id, status: 'settled' }
    },
  },
  'transaction cancel': {
    usage: 'txn_…',
    does: 'Ends a pending transaction as cancelled.',
    options: {},
    id: 'required',
    async run(ctx, _values, id) {
      await endTransaction(ctx, { id, status: 'cancelled' })
      return { transaction_id: id, status: 'cancelled' }
    },
  },
  'app register': {
    usage: '--name NAME --endpoint URL [--event TYPE …]',
    does: `Registers an application and shows its signing secret this once. Types of events: ${EVENT_TYPES.join(', ')}.`,
    options: { name: text, endpoint: text, event: { type: 'string', multiple: true } },
    async run(ctx, values) {
      const secret = `whsec_${randomBytes(32).toString('base64')}`
      const endpoint = checkEndpoint(required(values, 'endpoint'))
      const events = toEventTypes(values.event as string[] | undefined)
      return {
        app_id: await registerApp(ctx, { name: required(values, 'name'), endpoint, secret, events }),
        signing_secret: secret,
      }
    },
  },
  'app connect': {
    usage: '--user usr_… --app app_… --subject ID',
    does: "Connects a user to an application; ID is the application's own id of the user.",
    options: { user: text, app: text, subject: text },
    async run(ctx, values) {
      const input = {
        userId: required(values, 'user'),
        appId: required(values, 'app'),
        subject: required(values, 'subject'),
      }
      return { connection_id: await connectApp(ctx, input) }
    },
  },
  'archive write': {
    usage: '--user usr_…',
    does: "Writes an encrypted copy of the user's data into the archive store.",
    options: { user: text },
    async run(ctx, values) {
      return { archive_id: await writeArchive(ctx, required(values, 'user')) }
    },
  },
  'archive accept-loss': {
    usage: '--withdrawal wd_…',
    does: 'Removes archives that are not in the store any more from the list, so that their step can end.',
    options: { withdrawal: text },
    async run(ctx, values) {
      const withdrawalId = required(values, 'withdrawal')
      return { withdrawal_id: withdrawalId, lost_archives: await acceptLostArchives(ctx, withdrawalId) }
    },
  },
  'secrets reseal': {
    usage: '',
    does: 'Moves everything sealed in the database to the newest secret of CODE_SECRET; can be run again at any time.',
    options: {},
    run: (ctx) => resealSecrets(ctx),
  },
  'ledger replay': {
    usage: '',
    does: 'Withdraws again whom a restored backup brought back.',
    options: {},
    run: (ctx) => replayErasureLedger(ctx),
  },
  'withdrawal start': {
    usage: '--user usr_… [--reason REASON] [--feedback TEXT]',
    does: 'Withdraws an account for somebody who asked for it; this cannot be undone.',
    options: { user: text, reason: text, feedback: text },
    async run(ctx, values) {
      const userId = await activeUser(ctx, values)
      const { reason, feedback } = values
      const body = withdrawBody.safeParse({ confirmation: CONFIRMATION, reason, feedback })
      if (!body.success) throw new UsageError(`--${parseIssueMessage(body.error.issues[0]?.message ?? '').details}`)
      return { user_id: userId, ...(await withdrawByOperator(ctx, { ...body.data, userId })) }
    },
  },
  'withdrawal show': {
    usage: 'wd_…',
    does: 'Shows how far a withdrawal is, and what fails.',
    options: {},
    id: 'required',
    run: (ctx, _values, id) => showWithdrawal(ctx, id),
  },
  'withdrawal retry': {
    usage: 'wd_…',
    does: 'Tries at once what has failed.',
    options: {},
    id: 'required',
    async run(ctx, _values, id) {
      return { withdrawal_id: id, retried_steps: await retryWithdrawal(ctx, id) }
    },
  },
}

/** Plain http is allowed only for trials on one machine. */
function checkEndpoint(endpoint: string): string {
  const protocols = getEnv().production ? ['https:'] : ['https:', 'http:']
  if (!URL.canParse(endpoint) || !protocols.includes(new URL(endpoint).protocol)) {
    throw new UsageError(`--endpoint must be a URL that begins with ${protocols.join('// or ')}//.`)
  }
  const { username, password } = new URL(endpoint)
  if (username || password)
    throw new UsageError('--endpoint must hold no user name or password: no such URL is called.')
  return endpoint
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path)
    if (!(await file.stat()).isDirectory()) return file
    await file.close()
  } catch {}
  throw new UsageError('--file names no file that can be read.')
}

function required(values: Values, name: string): string {
  const value = values[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is missing.`)
  return value
}

/** Requires exactly one of these options, with a value that is not empty. */
function oneOf<Name extends string>(given: Record<Name, Values[string]>): Partial<Record<Name, string>> {
  const names = Object.keys(given) as Name[]
  const [name, ...others] = names.filter((name) => given[name] !== undefined && given[name] !== '')
  if (!name || others.length > 0) {
    const options = names.map((name) => (name === 'id' ? 'an id' : `--${name}`))
    throw new UsageError(`Give exactly one of ${options.join(', ')}.`)
  }
  return { [name]: given[name] } as Partial<Record<Name, string>>
}

const identifiersOf = (values: Values) => ({ email: values.email, 'external-id': values['external-id'] })

function byIdentifier(given: { email?: string; 'external-id'?: string }) {
  if (given.email !== undefined) return { email: given.email }
  return given['external-id'] === undefined ? null : { externalId: given['external-id'] }
}

function lifetimeOf(values: Values, otherwise: string): number {
  const lifetimeMs = parseDuration(String(values['expires-in'] ?? otherwise))
  if (!lifetimeMs || lifetimeMs > MAX_TOKEN_MS) {
    throw new UsageError('--expires-in must be an ISO 8601 duration such as P30D or PT1H, of a hundred years at most.')
  }
  return lifetimeMs
}

function checkTokenName(given: Values[string]): string {
  const name = tokenName.safeParse(given)
  if (!name.success) throw new UsageError(`--${parseIssueMessage(name.error.issues[0]?.message ?? '').details}`)
  return name.data
}

/** In the form in which a URL has it. */
function checkHost(host: string): string {
  const url = URL.canParse(`https://${host}/`) ? new URL(`https://${host}/`) : null
  if (!url || url.href !== `https://${url.host}/`) {
    throw new UsageError('--host must be a host such as billing.example.com, without a scheme or a path.')
  }
  return url.host
}

async function activeUser(ctx: SystemContext, values: Values): Promise<string> {
  const id = required(values, 'user')
  const isActive = (await ctx.db.user.count({ where: { id, withdrawnAt: null } })) > 0
  if (!isActive) throw new UsageError('There is no active user with this id.')
  return id
}

async function passwordOf(values: Values, readInput: ReadInput): Promise<string> {
  if (values['password-stdin'] !== true) return required(values, 'password')
  if (values.password !== undefined) throw new UsageError('Give either --password or --password-stdin.')
  if (!readInput) throw new UsageError('--password-stdin does not work in a batch, whose commands are read there.')
  const password = (await readInput()).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(password)) throw new UsageError('Standard input must hold one line, the password.')
  if (password === '') throw new UsageError('Standard input holds no password.')
  if (!isStorable(password)) throw new UsageError('The password contains characters that cannot be stored.')
  return password
}

export async function readStandardInput(): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await buffer(process.stdin))
  } catch {
    throw new UsageError('Standard input is not UTF-8.')
  }
}

function toScopes(names: string[] = []): GrantableScope[] {
  const known: readonly string[] = GRANTABLE_SCOPES
  if (names.length === 0 || !names.every((name) => known.includes(name))) {
    throw new UsageError(`--scope must be one or more of ${known.join(', ')}.`)
  }
  return [...new Set(names)] as GrantableScope[]
}

function toServiceScopes(names: string[] = []): ServiceScope[] {
  const known = Object.keys(SERVICE_SCOPES)
  if (names.length === 0 || !names.every((name) => known.includes(name))) {
    throw new UsageError(`--scope must be one or more of ${known.join(', ')}.`)
  }
  return [...new Set(names)] as ServiceScope[]
}

function toEventTypes(names: string[] = []): EventType[] {
  const known: readonly string[] = EVENT_TYPES
  if (!names.every((name) => known.includes(name))) throw new UsageError(`--event must be one of ${known.join(', ')}.`)
  return names as EventType[]
}

/** Runs one command; what it answers is printed. */
export async function execute(ctx: SystemContext, args: string[], readInput: ReadInput): Promise<Answer> {
  const name = nameIn(args)
  if (!name) throw new UsageError(`Unknown command. Known are: ${Object.keys(COMMANDS).join(', ')}, batch.`)
  const command = COMMANDS[name] as Command
  const { values, positionals, tokens } = parseOptions(args.slice(name.split(' ').length), command)
  const single = tokens.flatMap((token) =>
    token.kind === 'option' && !command.options[token.name]?.multiple ? token.name : [],
  )
  const repeated = single.find((option, index) => single.indexOf(option) < index)
  if (repeated) throw new UsageError(`--${repeated} is given more than once.`)
  for (const [option, value] of Object.entries(values)) {
    if (!isStorable([value].flat().join('')))
      throw new UsageError(`--${option} contains characters that cannot be stored.`)
  }
  if (!isStorable(positionals.join(''))) throw new UsageError('The id contains characters that cannot be stored.')
  const isComplete = positionals.length === 1 || (command.id === 'or-options' && positionals.length === 0)
  if (command.id && !isComplete) throw new UsageError(`${name} takes exactly one id.`)
  return command.run(ctx, values as Values, positionals[0] ?? '', readInput)
}

const nameIn = (args: string[]): string | undefined =>
  Object.keys(COMMANDS).find((words) => words.split(' ').every((word, index) => args[index] === word))

/** The help that `--help` among the words asks for, else null. */
export function helpFor(args: string[]): string | null {
  const words = args.filter((word) => word !== '--help' && word !== '-h')
  if (words.length === args.length && words[0] !== 'help') return null
  const topic = (words[0] === 'help' ? words.slice(1) : words).slice(0, 2).join(' ')
  const names = Object.keys(COMMANDS)
  const matching = names.filter((name) => name === topic || name.startsWith(`${topic} `))
  const shown = (matching.length > 0 ? matching : names).map((name) => {
    const { usage, does } = COMMANDS[name] as Command
    return `  ${`${name} ${usage}`.trim()}\n      ${does}`
  })
  const batch = '  batch\n      Reads one command a line from standard input and prints one line of JSON for each.'
  return [
    'npm run -s account -- COMMAND',
    'Each command prints one JSON object; what is wrong is told in a sentence, with an exit code that is not 0.',
    '',
    ...shown,
    ...(matching.length > 0 ? [] : [batch]),
    '',
  ].join('\n')
}

function parseOptions(args: string[], { options, id }: Command) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: id !== undefined, tokens: true })
  } catch (error) {
    const { message } = error as Error
    throw new UsageError(message.endsWith('.') ? message : `${message}.`)
  }
}

/** Splits a line into words with the shell's quoting: single quotes, double quotes, backslash. */
export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string
    if (char === "'") {
      const end = line.indexOf("'", at + 1)
      if (end < 0) throw new UsageError('A single quote is not closed.')
      word = (word ?? '') + line.slice(at + 1, end)
      at = end
    } else if (char === '"') {
      word ??= ''
      for (at++; line[at] !== '"'; at++) {
        if (at >= line.length) throw new UsageError('A double quote is not closed.')
        if (line[at] === '\\' && /["\\$`]/.test(line[at + 1] ?? '')) at++
        word += line[at]
      }
    } else if (char === '\\') {
      word = (word ?? '') + (line[++at] ?? '')
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  return word === undefined ? words : [...words, word]
}

export function sentenceOf(error: unknown): string {
  if (error instanceof UsageError) return error.message
  if (error instanceof AppError) return `${error.message}: ${error.details}`
  return error instanceof Error ? error.message : String(error)
}
