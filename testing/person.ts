import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { Answer, Instance } from './instance'
import { TABLES_WITH_TEXTS } from './later-steps'
import { createAccount, createToken } from './operator'
import { insertRows, oneIn } from './rows'
import { answered, until } from './until'
import type { World } from './world'

/** A user with the same random mark in every personal field of every table. */
export interface Person {
  id: string
  mark: string
  email: string
  newEmail: string
  password: string
  token: string
}

/** Creates the person with the API and the operator command, and with SQL for the rows that the adopter writes. */
export async function givenPerson(world: World, instance: Instance): Promise<Person> {
  const mark = `c4n${randomBytes(9).toString('hex')}`
  const email = `old-${mark}@${mark}.test`
  const password = `password ${mark}`
  const run = world.operator.run.bind(world.operator)
  const id = await createAccount(world.operator, { email, password, name: `Name ${mark}` })
  const token = await createToken(world.operator, id, `token ${mark}`)
  const person = { id, mark, email, newEmail: `new-${mark}@${mark}.test`, password, token }

  for (const { name, url } of world.applications) {
    const [known] = await world.query<{ id: string }>('SELECT id FROM connected_apps WHERE name = $1', [name])
    const app = known?.id ?? (await run('app', 'register', '--name', name, '--endpoint', url)).app_id ?? ''
    await run('app', 'connect', '--user', id, '--app', app, '--subject', `subject-${mark}`)
    await world.query('INSERT INTO shared_items VALUES ($1, $2, $3, $4, now())', [`shr_${app}${mark}`, id, app, mark])
  }
  await run('transaction', 'add', '--user', id, '--status', 'settled', '--title', `bought ${mark}`)
  await insertRows((sql) => world.query(sql), id, oneIn(ELSEWHERE), mark)
  await run('archive', 'write', '--user', id)
  await signIn(instance, person)
  const change = await answered(() => changeEmail(instance, person))
  expect(change.status, JSON.stringify(change.body)).toBe(200)
  return person
}

/** An account and a token, and perhaps an application. */
export async function givenPlainPerson({ operator }: Pick<World, 'operator'>, app?: string): Promise<Person> {
  const mark = randomBytes(6).toString('hex')
  const [email, newEmail, password] = [`old-${mark}@example.test`, `new-${mark}@example.test`, `password ${mark}`]
  const id = await createAccount(operator, { email, password, name: 'Ada' })
  const token = await createToken(operator, id)
  if (app) await operator.run('app', 'connect', '--user', id, '--app', app, '--subject', mark)
  return { id, mark, email, newEmail, password, token }
}

const BY_THE_SERVICE = [
  'users',
  'access_tokens',
  'transactions',
  'app_connections',
  'shared_items',
  'email_change_requests',
]
/** Writes the rows of the adopter, and rows that the service itself writes only later. */
const ELSEWHERE = TABLES_WITH_TEXTS.filter((table) => !BY_THE_SERVICE.includes(table))

/** Signs in with the marked user agent, as the page does, and returns the cookie. */
export async function signIn(instance: Instance, { email, password, mark }: Person): Promise<string> {
  const csrf = await fetch(`${instance.url}/api/auth/csrf`)
  const { csrfToken } = (await csrf.json()) as { csrfToken: string }
  const cookie = csrf.headers.getSetCookie().map((line) => line.split(';')[0])
  const response = await fetch(`${instance.url}/api/auth/callback/credentials`, {
    method: 'POST',
    headers: { Cookie: cookie.join('; '), 'User-Agent': `browser ${mark}` },
    body: new URLSearchParams({ csrfToken, email, password, json: 'true' }),
    redirect: 'manual',
  })
  const session = response.headers.getSetCookie().find((line) => line.includes('session-token'))
  expect(session).toBeDefined()
  return session?.split(';')[0] ?? ''
}

type Caller = Pick<Person, 'id' | 'token'>

const postToEmail = (instance: Instance, { id, token }: Caller, place: string, body: object): Promise<Answer> =>
  instance.call({ method: 'POST', path: `/api/v1/users/${id}/email/${place}`, token, scope: 'email:manage', body })

export const changeEmail = (instance: Instance, person: Person): Promise<Answer> =>
  postToEmail(instance, person, 'change', { new_email: person.newEmail, current_password: person.password })

/** The change request and the code in the newest message to the new address. */
export function mailedCode({ mail }: Pick<World, 'mail'>, { newEmail }: Person): { request: string; code: string } {
  const text = mail.to(newEmail).at(-1)?.text ?? ''
  const [, request = '', code = ''] = /request=(ecr_[\w-]+)&(?:amp;)?code=(\d{6})/.exec(text) ?? []
  return { request, code }
}

export const verifyEmail = (
  instance: Instance,
  person: Person,
  { request, code }: { request: string; code: string },
): Promise<Answer> => postToEmail(instance, person, 'verify', { change_request_id: request, verification_code: code })

export const resendVerification = (instance: Instance, caller: Caller, request: string): Promise<Answer> =>
  postToEmail(instance, caller, 'resend-verification', { change_request_id: request })

export const emailStatus = (instance: Instance, { id, token }: Caller): Promise<Answer> =>
  instance.call({ path: `/api/v1/users/${id}/email/status`, token, scope: 'email:manage' })

export const withdraw = (
  instance: Instance,
  { id, token, mark }: Person,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  instance.call({
    method: 'POST',
    path: `/api/v1/users/${id}/withdraw`,
    token,
    scope: 'account:manage',
    body: { confirmation: 'DELETE_MY_ACCOUNT', reason: 'other', feedback: `because ${mark}` },
    headers: { 'User-Agent': `client ${mark}`, ...headers },
  })

/** The id of the withdrawal, whether its call was answered or the instance died before the answer. */
export async function withdrawalOf(world: World, person: Person): Promise<string> {
  const { id } = await until('the withdrawal is committed', async () => {
    const [row] = await world.query<{ id: string }>('SELECT id FROM withdrawals WHERE user_id = $1', [person.id])
    return row
  })
  return id
}

export const withdrawalStatus = (instance: Instance, { id, token }: Caller, withdrawalId: string): Promise<Answer> =>
  instance.call({ path: `/api/v1/users/${id}/withdrawal/${withdrawalId}`, token, scope: 'account:manage' })
