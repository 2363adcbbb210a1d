import type { SystemContext } from '../context'
import { showPassword } from '../passwords/password-formats'
import { boolean, integer, type RowOf, sql, statement, text, time } from '../sql'

const BATCH_SIZE = 1000

const nextUsers = statement(
  'export-users',
  { after: text, batch: integer },
  {
    id: text,
    external_id: text.orNull,
    email: text,
    email_verified: boolean,
    name: text,
    locale: text.orNull,
    created_at: time,
    password_hash: text.orNull,
  },
  (v) => sql`SELECT id, external_id, email, email_verified_at IS NOT NULL AS email_verified, name, locale, created_at,
     password_hash
   FROM users WHERE id > ${v.after} AND withdrawn_at IS NULL ORDER BY id LIMIT ${v.batch}`,
)

/** Every account that is not withdrawn, in batches and in the format of an import. */
export async function* exportUsers(ctx: SystemContext): AsyncGenerator<object[]> {
  for (let after = ''; ; ) {
    const rows = await ctx.sql(nextUsers, { after, batch: BATCH_SIZE })
    const last = rows.at(-1)
    if (!last) return
    yield rows.map(toLine)
    after = last.id
  }
}

const toLine = ({
  external_id,
  email,
  email_verified,
  name,
  locale,
  created_at,
  password_hash,
}: RowOf<typeof nextUsers>) => ({
  ...(external_id !== null && { external_id }),
  email,
  email_verified,
  name,
  ...(locale !== null && { locale }),
  created_at: created_at.toISOString(),
  ...(password_hash !== null && { password: showPassword(password_hash) }),
})
