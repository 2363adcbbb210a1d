import { randomBytes } from 'node:crypto'
import { hash } from '@node-rs/argon2'
import { sha256 } from '@/domain/sessions/authenticate'
import type { Person } from './person'
import type { World } from './world'

const PASSWORD = `password ${randomBytes(6).toString('hex')}`
/** A hash that is checked in a millisecond, so that concurrent requests meet in the database and not in the queue of hashes. */
const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 }
export const COSTLY = { memoryCost: 12_288, timeCost: 3, parallelism: 1 }
const BOTH_SCOPES = ['email:manage', 'account:manage']

/** Inserts accounts with a token, in the form in which the service writes them. */
export async function givenPeople(
  world: Pick<World, 'query'>,
  count: number,
  { cost = CHEAP, scopes = BOTH_SCOPES } = {},
): Promise<Person[]> {
  const passwordHash = await hash(PASSWORD, cost)
  const people = Array.from({ length: count }, (): Person => {
    const mark = `p${randomBytes(8).toString('hex')}`
    const id = `usr_${randomBytes(16).toString('base64url')}`
    const token = `uat_${randomBytes(32).toString('base64url')}`
    const [email, newEmail] = [`old-${mark}@example.test`, `new-${mark}@example.test`]
    return { id, mark, email, newEmail, password: PASSWORD, token }
  })
  await world.query(
    `INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
     SELECT id, 'Ada', email, email, now(), $3, now() FROM unnest($1::text[], $2::text[]) AS u (id, email)`,
    [people.map(({ id }) => id), people.map(({ email }) => email), passwordHash],
  )
  await world.query(
    `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
     SELECT 'tok_' || substr(user_id, 5), user_id, 'proof', hash, $3::text[], now(), now() + interval '1 day'
     FROM unnest($1::text[], $2::bytea[]) AS t (user_id, hash)`,
    [people.map(({ id }) => id), people.map(({ token }) => sha256(token)), scopes],
  )
  return people
}
