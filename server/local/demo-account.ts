import { AppError } from '@/contract/errors'
import { createUser } from '@/domain/accounts/user'
import { writeArchive } from '@/domain/applications/archives'
import { connectApp } from '@/domain/applications/connect'
import { registerApp } from '@/domain/applications/manage'
import { addTransaction } from '@/domain/applications/transactions'
import type { SystemContext } from '@/domain/context'
import { heldSince } from '@/domain/limits/held-addresses'
import { boolean, type RowOf, sql, statement, text, time } from '@/domain/sql'

const DEMO = { email: 'demo@example.com', password: 'correct horse battery', name: 'Demo Person' }

export const DEMO_PERSON = { externalId: 'demo-ida', name: 'Ida Demo', email: 'ida@example.com' }

const CALENDAR = { name: 'Demo Calendar', endpoint: 'http://127.0.0.1:4711/account-events' }

const readUse = statement(
  'demo_user',
  { email: text, app: text, endpoint: text },
  {
    used: boolean,
    there: boolean,
    /** The demo calendar, if an earlier start has registered it. */
    app_id: text.orNull,
  },
  (v) => sql`SELECT EXISTS (SELECT FROM users WHERE withdrawn_at IS NULL) AS used,
          EXISTS (SELECT FROM users WHERE email_key = ${v.email}) AS there,
          (SELECT id FROM connected_apps WHERE name = ${v.app} AND endpoint = ${v.endpoint} LIMIT 1) AS app_id`,
)

/** Creates the demo account at a local start without any account: the first, or one after it was deleted. Returns its sign-in while it exists. */
export async function seedDemoUser(ctx: SystemContext): Promise<{ email: string; password: string } | null> {
  const state = await readState(ctx)
  if (!state?.used) {
    // Of several instances that start at once, only the one that inserts the account adds the rest.
    const userId = await createUser(ctx, { ...DEMO, emailVerified: true }).catch(unlessAddressTaken)
    if (userId) await fillDemoUser(ctx, userId, state?.app_id ?? (await registerCalendar(ctx)))
  }
  return (await readState(ctx))?.there ? DEMO : null
}

async function readState(ctx: SystemContext): Promise<RowOf<typeof readUse> | undefined> {
  const [state] = await ctx.sql(readUse, { email: DEMO.email, app: CALENDAR.name, endpoint: CALENDAR.endpoint })
  return state
}

function unlessAddressTaken(error: unknown): null {
  if (error instanceof AppError && error.code === 'EMAIL_002') return null
  throw error
}

const insertDemoPerson = statement(
  'demo-person',
  { id: text, name: text, email: text, externalId: text, heldSince: time, now: time },
  {},
  (v) => sql`INSERT INTO users (id, name, email, email_key, email_verified_at, external_id, created_at)
   SELECT ${v.id}, ${v.name}, ${v.email}, ${v.email}, ${v.now}, ${v.externalId}, ${v.now}
   WHERE address_is_free(${v.email}, ${v.id}, ${v.heldSince})
     AND NOT EXISTS (SELECT FROM users WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL)`,
)

/** For the demo provider: a person whom it knows and who has no password here. */
export async function seedDemoPerson(ctx: SystemContext): Promise<void> {
  const now = ctx.clock.now()
  const id = ctx.secrets.randomId('usr_')
  await ctx.sql(insertDemoPerson, { ...DEMO_PERSON, id, heldSince: heldSince(ctx, now), now })
}

async function registerCalendar(ctx: SystemContext): Promise<string> {
  // Nothing listens there until examples/connected-application.ts runs, so the retries can be watched.
  const secret = 'whsec_c2lnbnMtZm9yLXRoZS1kZW1vLWNhbGVuZGFy'
  const { appId } = await registerApp(ctx, { ...CALENDAR, secret, events: ['account.withdrawal_started'] })
  return appId
}

/** Adds rows to every table, so that a person can watch their deletion. */
async function fillDemoUser(ctx: SystemContext, userId: string, appId: string) {
  const at = ctx.clock.now()
  const ip = '192.0.2.10'
  const id = (prefix: string) => ctx.secrets.randomId(prefix)
  await ctx.db.profile.create({
    data: { userId, phone: '+1 555 0100', birthDate: '1990-05-17', address: '1 Example Street', bio: 'Likes demos.' },
  })
  await ctx.db.preference.createMany({
    data: [
      { userId, key: 'language', value: 'en' },
      { userId, key: 'newsletter', value: 'weekly' },
    ],
  })
  await connectApp(ctx, { userId, appId, subject: 'calendar-4711' })
  await ctx.db.sharedItem.create({ data: { id: id('shr_'), userId, appId, content: 'Availability', sharedAt: at } })
  await ctx.db.cacheEntry.create({ data: { key: id('cch_'), userId, value: 'Avatar, 64 px', expiresAt: at } })
  await ctx.db.analyticsEvent.create({
    data: { id: id('ane_'), userId, name: 'page.viewed', properties: { path: '/settings/email' }, at },
  })
  await ctx.db.communicationLog.create({
    data: { id: id('cml_'), userId, channel: 'mail', recipient: DEMO.email, subject: 'Welcome', at },
  })
  await ctx.db.integrationLog.create({
    data: { id: id('inl_'), userId, appId, action: 'calendar.synced', details: '12 entries', at },
  })
  await addTransaction(ctx, {
    userId,
    status: 'settled',
    title: 'Subscription',
    amount: { minor_units: 900, currency: 'EUR' },
    ip,
  })
  await ctx.db.securityIncident.create({
    data: { id: id('sec_'), userId, kind: 'sign_in_from_new_device', description: 'Firefox, Berlin', ip, at },
  })
  await ctx.db.legalRecord.create({
    data: { id: id('lgl_'), userId, kind: 'terms_accepted', details: 'Version 3, Demo Person', at },
  })
  await writeArchive(ctx, userId)
}
