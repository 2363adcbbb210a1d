import { type FileHandle, open } from 'node:fs/promises'
import { isStorable } from '@/contract/define'
import { exportUsers } from '@/domain/accounts/export-users'
import { listUndeliverableUsers } from '@/domain/accounts/list-undeliverable'
import { setRole } from '@/domain/accounts/operators'
import { setEmail } from '@/domain/accounts/set-email'
import { createUser, setPassword } from '@/domain/accounts/user'
import { sendPasswordReset } from '@/domain/passwords/request-password-reset'
import { showUser } from '@/domain/withdrawal/show-account'
import { command, type ReadInput, UsageError } from './command.ts'
import { importUsers } from './import-users.ts'
import { account, idOf, namedAccount, toVersion } from './values.ts'

const passwordOptions = {
  password: { value: 'PASSWORD', means: 'The password; other users of the machine can see it while the command runs.' },
  'password-stdin': { means: 'Reads the password from standard input.' },
} as const
const identifiers = {
  account: {
    ...account,
    value: 'ACCOUNT',
    positional: true,
    means: 'The account, by its usr_…, its address or your own id of the person.',
  },
  email: namedAccount.email,
  'external-id': { value: 'ID', means: 'Your own id of the person.' },
} as const

const MAX_LISTED = '1000'

export const userCommands = [
  command({
    name: 'user create',
    summary: 'Creates an account.',
    options: {
      email: { value: 'ADDRESS', required: true, means: 'The address.' },
      name: { value: 'NAME', required: true, means: 'The name, as mails greet it.' },
      ...passwordOptions,
      verified: { means: 'Takes the address as verified.' },
    },
    oneOf: ['password', 'password-stdin'],
    needsNoData: true,
    async run(ctx, { email, name, verified, ...given }, readInput) {
      const password = await passwordOf(given, readInput)
      return { user_id: await createUser(ctx, { email, name, password, emailVerified: verified }) }
    },
  }),
  command({
    name: 'user send-reset',
    summary: 'Mails the person a link with which they choose a new password themselves.',
    options: namedAccount,
    oneOf: ['user', 'email'],
    async run(ctx, given) {
      const userId = await idOf(ctx, given, { takesUnverified: true })
      await sendPasswordReset(ctx, userId)
      return { user_id: userId, mailed: true }
    },
  }),
  command({
    name: 'user set-password',
    summary: 'Sets a password, ends every session and access token, and cancels a pending change.',
    options: {
      user: { ...account, required: true },
      ...passwordOptions,
      'keep-tokens': { means: 'Keeps the access tokens, and those of an outside issuer.' },
    },
    oneOf: ['password', 'password-stdin'],
    async run(ctx, { user: userId, 'keep-tokens': keepTokens, ...given }, readInput) {
      await setPassword(ctx, { userId, password: await passwordOf(given, readInput), keepTokens })
      return { user_id: userId }
    },
  }),
  command({
    name: 'user set-email',
    summary: 'Gives an account another address, which counts as verified; the browser sessions end.',
    options: {
      user: { ...account, required: true },
      email: { value: 'ADDRESS', required: true, means: 'The new address.' },
      'old-mailbox': {
        value: 'lost',
        choices: ['lost'],
        means: 'Somebody else reads the old mailbox: it gets no link to undo this, and all earlier links end.',
      },
      'if-version': { value: 'N', read: toVersion, means: 'Changes the account only if it still has this version.' },
    },
    run: (ctx, { user: userId, email, 'old-mailbox': oldMailbox, 'if-version': ifVersion }) =>
      setEmail(ctx, { userId, email, oldMailbox, ifVersion }),
  }),
  command({
    name: 'user show',
    summary: 'Shows an account and its pending change.',
    options: {
      account: identifiers.account,
      user: account,
      email: identifiers.email,
      'external-id': identifiers['external-id'],
    },
    oneOf: ['account', 'user', 'email', 'external-id'],
    run: (ctx, given) => showUser(ctx, identifierOf(given)),
  }),
  command({
    name: 'user find',
    summary: 'Shows the account that has this usr_…, this address or this id of yours.',
    options: identifiers,
    example: '--external-id customer-42',
    oneOf: ['account', 'email', 'external-id'],
    run: (ctx, given) => showUser(ctx, identifierOf(given)),
  }),
  command({
    name: 'user list',
    summary: 'Lists the accounts whose address takes no mail, at most a thousand.',
    options: {
      undeliverable: { required: true, means: 'Only these can be listed; user export prints all accounts.' },
      after: { value: 'usr_…', means: 'The "next" of the list before.' },
    },
    run: (ctx, { after }) => listUndeliverableUsers(ctx, { after, limit: MAX_LISTED }),
  }),
  command({
    name: 'user set-role',
    summary: 'Lets a user open /admin, or no longer.',
    options: {
      ...namedAccount,
      role: { value: 'ROLE', required: true, choices: ['operator', 'none'], means: 'The role.' },
    },
    oneOf: ['user', 'email'],
    async run(ctx, { role, ...given }) {
      const userId = await idOf(ctx, given, { takesUnverified: role === 'none' })
      await setRole(ctx, { userId, role: role === 'none' ? null : role })
      return { user_id: userId, role }
    },
  }),
  command({
    name: 'user import',
    summary: 'Creates the accounts of a file, one JSON object a line, and prints a result for each.',
    options: {
      file: { value: 'users.ndjson', required: true, means: 'The file.' },
      check: { means: 'Prints every problem and writes nothing.' },
    },
    printsMany: true,
    needsNoData: true,
    async run(ctx, { file, check }) {
      const tell = (line: string) => process.stderr.write(`${line}\n`)
      return importUsers(ctx, { file: await openFile(file), check, tell })
    },
  }),
  command({
    name: 'user export',
    summary: 'Prints every account that is not withdrawn, with its password hash, a line each as user import reads it.',
    options: { all: { required: true, means: 'Exports all accounts.' } },
    printsMany: true,
    run: async (ctx) => exportUsers(ctx),
  }),
]

interface Identifiers {
  account?: string
  user?: string
  email?: string
  'external-id'?: string
}

function identifierOf({ account, user, email, 'external-id': externalId = '' }: Identifiers) {
  if (email) return { email }
  if (account?.includes('@')) return { email: account }
  const userId = account?.startsWith('usr_') ? account : user
  return userId ? { userId } : { externalId: account || externalId }
}

async function passwordOf({ password }: { password?: string }, readInput: ReadInput): Promise<string> {
  if (password) return password
  if (!readInput) throw new UsageError('--password-stdin does not work in a batch, whose commands are read there.')
  const input = (await readInput()).replace(/\r?\n$/, '')
  if (/[\r\n]/.test(input)) throw new UsageError('Standard input must hold one line, the password.')
  if (input === '') throw new UsageError('Standard input holds no password.')
  if (!isStorable(input)) throw new UsageError('The password contains characters that cannot be stored.')
  return input
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path)
    if (!(await file.stat()).isDirectory()) return file
    await file.close()
  } catch {}
  throw new UsageError('--file names no file that can be read.')
}
