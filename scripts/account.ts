import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { tokenName } from '@/contract/access'
import { GRANTABLE_SCOPES, type GrantableScope, isStorable } from '@/contract/define'
import { AppError, parseIssueMessage } from '@/contract/errors'
import { issueAccessToken } from '@/domain/access/access-tokens'
import { setRole } from '@/domain/access/operators'
import type { SystemContext } from '@/domain/context'
import { createUser, setPassword } from '@/domain/user'
import { acceptLostArchives, writeArchive } from '@/domain/withdrawal/archive'
import { connectApp, registerApp } from '@/domain/withdrawal/connected-applications'
import { retryWithdrawal, showWithdrawal } from '@/domain/withdrawal/operate-withdrawal'
import { replayErasureLedger } from '@/domain/withdrawal/replay-erasure-ledger'
import { addTransaction } from '@/domain/withdrawal/transactions'
import { startEmbeddedPostgres } from '@/server/embedded-postgres'
import { getEnv, parseDuration, setDatabaseUrl } from '@/server/env'
import { migrateDeploy } from '@/server/migrate'
import { openContext } from '@/server/open-context'

/** What the operator asked for is wrong; the message says how. */
class UsageError extends Error {}

type Values = Record<string, string | string[] | boolean | undefined>
interface Command {
  options: NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>
  /** Whether one word without a name follows, such as an id. */
  positional?: boolean
  run(ctx: SystemContext, values: Values, words: string[]): Promise<object>
}

const LONGEST_TOKEN_MS = 100 * 365 * 24 * 60 * 60 * 1000
const text = { type: 'string' } as const
const COMMANDS: Record<string, Command> = {
  'user create': {
    options: { email: text, password: text, name: text, verified: { type: 'boolean' } },
    async run(ctx, values) {
      const input = {
        email: required(values, 'email'),
        password: required(values, 'password'),
        name: required(values, 'name'),
      }
      return { user_id: await createUser(ctx, { ...input, emailVerified: values.verified === true }) }
    },
  },
  'user set-password': {
    options: { user: text, password: text },
    async run(ctx, values) {
      const userId = required(values, 'user')
      await setPassword(ctx, { userId, password: required(values, 'password') })
      return { user_id: userId }
    },
  },
  'user set-role': {
    options: { user: text, role: text },
    async run(ctx, values) {
      const userId = required(values, 'user')
      const role = required(values, 'role')
      if (role !== 'operator' && role !== 'none') throw new UsageError('--role must be operator or none.')
      await setRole(ctx, { userId, role: role === 'none' ? null : role })
      return { user_id: userId, role }
    },
  },
  'token create': {
    options: { user: text, scope: { type: 'string', multiple: true }, 'expires-in': text, name: text },
    async run(ctx, values) {
      const expiresIn = String(values['expires-in'] ?? 'P30D')
      const expiresInMs = parseDuration(expiresIn)
      if (!expiresInMs || expiresInMs > LONGEST_TOKEN_MS) {
        throw new UsageError(
          '--expires-in must be an ISO 8601 duration such as P30D or PT1H, of a hundred years at most.',
        )
      }
      const name = tokenName.safeParse(values.name ?? 'operator')
      if (!name.success) throw new UsageError(`--${parseIssueMessage(name.error.issues[0]?.message ?? '').details}`)
      const { accessToken, expiresAt } = await issueAccessToken(ctx, {
        userId: required(values, 'user'),
        name: name.data,
        scopes: toScopes(values.scope as string[] | undefined),
        expiresInMs,
        actor: 'operator',
      })
      return { access_token: accessToken, expires_at: expiresAt.toISOString() }
    },
  },
  'transaction add': {
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
  'app register': {
    options: { name: text, endpoint: text },
    async run(ctx, values) {
      const secret = `whsec_${randomBytes(32).toString('base64')}`
      const endpoint = checkEndpoint(required(values, 'endpoint'))
      return {
        app_id: await registerApp(ctx, { name: required(values, 'name'), endpoint, secret }),
        signing_secret: secret,
      }
    },
  },
  'app connect': {
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
    options: { user: text },
    async run(ctx, values) {
      return { archive_id: await writeArchive(ctx, required(values, 'user')) }
    },
  },
  'archive accept-loss': {
    options: { withdrawal: text },
    async run(ctx, values) {
      const withdrawalId = required(values, 'withdrawal')
      return { withdrawal_id: withdrawalId, lost_archives: await acceptLostArchives(ctx, withdrawalId) }
    },
  },
  'ledger replay': {
    options: {},
    run: (ctx) => replayErasureLedger(ctx),
  },
  'withdrawal show': { options: {}, positional: true, run: (ctx, _values, [id = '']) => showWithdrawal(ctx, id) },
  'withdrawal retry': {
    options: {},
    positional: true,
    async run(ctx, _values, [id = '']) {
      return { withdrawal_id: id, retried_steps: await retryWithdrawal(ctx, id) }
    },
  },
}

/** Plain http only for trials on one machine. */
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

function required(values: Values, name: string): string {
  const value = values[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is missing.`)
  return value
}

function toScopes(names: string[] = []): GrantableScope[] {
  const known: readonly string[] = GRANTABLE_SCOPES
  if (names.length === 0 || !names.every((name) => known.includes(name))) {
    throw new UsageError(`--scope must be one or more of ${known.join(', ')}.`)
  }
  return [...new Set(names)] as GrantableScope[]
}

async function execute(ctx: SystemContext, args: string[]): Promise<object> {
  const name = Object.keys(COMMANDS).find((words) => words.split(' ').every((word, index) => args[index] === word))
  const command = name && COMMANDS[name]
  if (!command) throw new UsageError(`Unknown command. Known are: ${Object.keys(COMMANDS).join(', ')}, batch.`)
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
  if (command.positional && positionals.length !== 1) throw new UsageError(`${name} takes exactly one id.`)
  return command.run(ctx, values as Values, positionals)
}

function parseOptions(args: string[], { options, positional = false }: Command) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: positional, tokens: true })
  } catch (error) {
    const { message } = error as Error
    throw new UsageError(message.endsWith('.') ? message : `${message}.`)
  }
}

/** Words of one line with the shell's quoting: single quotes, double quotes, backslash. */
function splitWords(line: string): string[] {
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

function sentenceOf(error: unknown): string {
  if (error instanceof UsageError) return error.message
  if (error instanceof AppError) return `${error.message}: ${error.details}`
  return error instanceof Error ? error.message : String(error)
}

const print = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)

async function runBatch(ctx: SystemContext): Promise<boolean> {
  let allGood = true
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue
    try {
      print(await execute(ctx, splitWords(line)))
    } catch (error) {
      allGood = false
      print({ error: sentenceOf(error) })
    }
  }
  return allGood
}

async function main(args: string[]): Promise<boolean> {
  const env = getEnv()
  const database = env.databaseUrl ? undefined : await startEmbeddedPostgres({ dataDir: env.dataDir })
  if (database) setDatabaseUrl(database.url)
  await migrateDeploy(getEnv().databaseUrl as string)
  const ctx = await openContext()
  try {
    if (args[0] === 'batch') return await runBatch(ctx)
    print(await execute(ctx, args))
    return true
  } finally {
    await ctx.close()
    await database?.stop()
  }
}

main(process.argv.slice(2)).then(
  (allGood) => process.exit(allGood ? 0 : 1),
  (error) => {
    process.stderr.write(`${sentenceOf(error)}\n`)
    process.exit(1)
  },
)
