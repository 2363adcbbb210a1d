import { createUser } from '@/domain/access/user'
import { writeArchive } from '@/domain/applications/archives'
import { connectApp, registerApp } from '@/domain/applications/deliver'
import { addTransaction } from '@/domain/applications/transactions'
import { statement as namedStatement, type SystemContext } from '@/domain/context'
import { WITHDRAWAL_STARTED } from '@/domain/queue/events'
import { statement } from '@/domain/sql'

const DEMO = { email: 'demo@example.com', password: 'correct horse battery', name: 'Demo Person' }

export const DEMO_PERSON = { externalId: 'demo-ida', name: 'Ida Demo', email: 'ida@example.com' }

const USED = namedStatement(
  'demo_user',
  `SELECT EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM withdrawals) AS used,
          EXISTS (SELECT FROM users WHERE email_key = $1) AS there`,
)

/** On the first run of a local service. Answers the sign-in to print, for as long as the demo account is there. */
export async function seedDemoUser(ctx: SystemContext): Promise<{ email: string; password: string } | null> {
  const [state] = await ctx.sql<{ used: boolean; there: boolean }>(USED, [DEMO.email])
  if (state?.used) return state.there ? DEMO : null
  await fillDemoUser(ctx, await createUser(ctx, { ...DEMO, emailVerified: true }))
  return DEMO
}

interface DemoPerson {
  id: string
  name: string
  email: string
  externalId: string
  now: Date
}

const insertDemoPerson = statement<DemoPerson>(
  'demo-person',
  (v) => `INSERT INTO users (id, name, email, email_key, email_verified_at, external_id, created_at)
   SELECT ${v.id}, ${v.name}, ${v.email}, ${v.email}, ${v.now}, ${v.externalId}, ${v.now}
   WHERE address_is_free(${v.email}, ${v.id})
     AND NOT EXISTS (SELECT FROM users WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL)`,
)

/** Beside the demo provider: someone whom it knows, and who has no password here. */
export async function seedDemoPerson({ sql, clock, secrets }: SystemContext): Promise<void> {
  await sql(insertDemoPerson, { ...DEMO_PERSON, id: secrets.randomId('usr_'), now: clock.now() })
}

/** Something in every table, so that a person can watch it go. */
async function fillDemoUser(ctx: SystemContext, userId: string) {
  const at = ctx.clock.now()
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
  const appId = await registerApp(ctx, {
    name: 'Demo Calendar',
    // Who does not start examples/connected-application.ts sees how an application that does not answer is tried again.
    endpoint: 'http://127.0.0.1:4711/account-events',
    secret: 'whsec_c2lnbnMtZm9yLXRoZS1kZW1vLWNhbGVuZGFy',
    events: [WITHDRAWAL_STARTED],
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
    description: 'Subscription',
    amountCents: 900,
    ip: '192.0.2.10',
  })
  await ctx.db.securityIncident.create({
    data: {
      id: id('sec_'),
      userId,
      kind: 'sign_in_from_new_device',
      description: 'Firefox, Berlin',
      ip: '192.0.2.10',
      at,
    },
  })
  await ctx.db.legalRecord.create({
    data: { id: id('lgl_'), userId, kind: 'terms_accepted', details: 'Version 3, Demo Person', at },
  })
  await writeArchive(ctx, userId)
}
