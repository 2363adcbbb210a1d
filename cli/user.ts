import { type FileHandle, open } from 'node:fs/promises'
import { isStorable } from '@/contract/define'
import type { ShownAccount } from '@/contract/operator'
import { returnedSaid } from '@/contract/words'
import { exportUsers } from '@/domain/accounts/export-users'
import { listUndeliverableUsers } from '@/domain/accounts/list-undeliverable'
import { wholeIdOf } from '@/domain/accounts/look-up'
import { setRole } from '@/domain/accounts/operators'
import { setEmail } from '@/domain/accounts/set-email'
import { createUser, setPassword } from '@/domain/accounts/user'
import type { SystemContext } from '@/domain/context'
import { sendPasswordReset } from '@/domain/passwords/request-password-reset'
import { showUser } from '@/domain/withdrawal/show-account'
import { final, type ReadInput, reading, revocable, UsageError } from './command.ts'
import { importUsers } from './import-users.ts'
import { account, address, anyAccount, idOf, personOf, toVersion, verifiedAccount } from './values.ts'

const passwordOptions = {
  password: { value: 'PASSWORD', means: 'The password; other users of the machine can see it while the command runs.' },
  'password-stdin': { means: 'Reads the password from standard input.' },
} as const
const identifiers = {
  account: {
    ...account,
    value: 'ACCOUNT',
    // An id of the adopter's may begin as one of ours.
    find: async (ctx: SystemContext, given: string) => (given.startsWith('usr_') ? wholeIdOf(ctx, given) : given),
    positional: true,
    means: 'The account, by its usr_…, its address or your own ID of the person.',
  },
  user: account,
  email: address,
  'external-id': { value: 'ID', means: 'Your own ID of the person.' },
} as const

const MAX_LISTED = '1000'

const LOST = 'The old mailbox gets no link to undo this, and all earlier links end.'
const KEPT = 'If the old address was verified, it gets a link that undoes this.'
const WAS_LOST = 'The old mailbox got no link to undo this, and all earlier links have ended.'

const shows = (verb: string, summary: string) =>
  reading({
    name: `user ${verb}`,
    summary,
    options: identifiers,
    oneOf: ['account', 'user', 'email', 'external-id'],
    run: (ctx, given) => showUser(ctx, identifierOf(given)),
    says: forOperators,
  })

export const userCommands = [
  revocable({
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
  revocable({
    name: 'user send-reset',
    summary: 'Mails the person a link with which they choose a new password themselves.',
    options: anyAccount,
    oneOf: ['user', 'email'],
    async run(ctx, given) {
      const userId = idOf(given)
      return { user_id: userId, email: await sendPasswordReset(ctx, userId), accepted: true }
    },
    says: ({ email }: { email: string }) =>
      `The mail to ${email} is queued: it is sent within a minute, or once the mail server takes it.`,
  }),
  final({
    name: 'user set-password',
    summary: 'Sets a password, ends every session and access token, and cancels a pending change of the address.',
    options: {
      user: { ...account, required: true },
      ...passwordOptions,
      'keep-tokens': { means: 'Keeps the access tokens, and those of an outside issuer.' },
    },
    oneOf: ['password', 'password-stdin'],
    asks: async (ctx, { user, 'keep-tokens': keepTokens }) =>
      `Set the password of ${await personOf(ctx, user)}? Every session${keepTokens ? '' : ' and access token'} ends, and a pending change is cancelled.`,
    async run(ctx, { user: userId, 'keep-tokens': keepTokens, ...given }, readInput) {
      await setPassword(ctx, { userId, password: await passwordOf(given, readInput), keepTokens })
      return { user_id: userId }
    },
  }),
  final({
    name: 'user set-email',
    summary: 'Gives an account another address, which counts as verified; the browser sessions end.',
    options: {
      user: { ...account, required: true },
      email: { value: 'ADDRESS', required: true, means: 'The new address.' },
      'old-mailbox': {
        value: 'lost',
        choices: ['lost'],
        means:
          'Give it only where you have made sure of the person, and somebody else reads or may read the old mailbox: it gets no link to undo this, and all earlier links end. Without it, an old address that was verified gets a link that undoes this.',
      },
      'if-version': { value: 'N', read: toVersion, means: 'Changes the account only if it still has this version.' },
    },
    asks: async (ctx, { user, email, 'old-mailbox': oldMailbox }) =>
      `Give ${await personOf(ctx, user)} the address ${email}? Every browser session ends. ${oldMailbox ? LOST : KEPT}`,
    async run(ctx, { user: userId, email, 'old-mailbox': oldMailbox, 'if-version': ifVersion }) {
      const account = await setEmail(ctx, { userId, email, oldMailbox, ifVersion })
      process.stderr.write(`Every browser session has ended. ${oldMailbox ? WAS_LOST : KEPT}\n`)
      return account
    },
  }),
  shows('show', 'Shows an account, and what holds its deletion back.'),
  shows('find', 'Shows the account that has this usr_…, this address or this ID of yours.'),
  reading({
    name: 'user list',
    summary: 'Lists the accounts whose address takes no mail, at most a thousand.',
    options: {
      undeliverable: { means: 'Only these are listed, also without it; user export prints all accounts.' },
      after: { value: 'PLACE', means: 'The "next" of the list before.' },
    },
    run: (ctx, { after }) => listUndeliverableUsers(ctx, { after, limit: MAX_LISTED }),
    says: ({ users, next }: { users: object[]; next: string | null }) =>
      users.length > 0
        ? { undeliverable_users: users, next }
        : "No message to an account's address is known to have come back. Other accounts are not listed: user show ADDRESS finds one, and user export prints all.",
  }),
  revocable({
    name: 'user set-role',
    summary: 'Lets an account open /admin, or no longer.',
    options: {
      user: anyAccount.user,
      email: address,
      role: { value: 'ROLE', required: true, choices: ['operator', 'none'], means: 'The role.' },
    },
    oneOf: ['user', 'email'],
    async run(ctx, { user, email = '', role }) {
      const find = role === 'none' ? anyAccount.email.find : verifiedAccount
      const userId = user ?? (await find(ctx, email))
      const isChanged = await setRole(ctx, { userId, role: role === 'none' ? null : role })
      return { user_id: userId, role, ...(!isChanged && { already: true }) }
    },
    says: ({ already, ...answer }: { user_id: string; role: string; already?: true }) =>
      already ? `The account has ${answer.role === 'none' ? 'no role' : `the role ${answer.role}`} already.` : answer,
  }),
  revocable({
    name: 'user import',
    summary: 'Creates the accounts of a file, one JSON object a line, and prints a result for each.',
    options: {
      file: { value: 'users.ndjson', required: true, means: 'The file.' },
      check: { means: 'Prints every problem and writes nothing.' },
    },
    printsMany: true,
    needsNoData: true,
    async run(ctx, { file, check }) {
      const print = (line: string) => process.stderr.write(`${line}\n`)
      return importUsers(ctx, { file: await openFile(file), check, print })
    },
  }),
  reading({
    name: 'user export',
    summary: 'Prints every account that is not withdrawn, with its password hash, a line each as user import reads it.',
    options: { all: { required: true, means: 'Exports all accounts.' } },
    printsMany: true,
    run: async (ctx) => exportUsers(ctx),
  }),
]

/** What the page of the account shows. The rest is for programs, and is in the tables below. */
function forOperators({ version, verified_at, blockers, ...account }: ShownAccount) {
  const { has_pending, new_email, expires_at } = account.pending_change
  return {
    ...account,
    email_undeliverable: returnedSaid(account.email_undeliverable),
    pending_change: has_pending ? { new_email, expires_at } : 'None',
    cannot_be_deleted_until: blockers.find(({ until }) => until)?.until,
  }
}

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
