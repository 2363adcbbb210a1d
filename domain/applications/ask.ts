import { checkAnswer, linkOf } from '@/contract/blockers'
import { AppError, type Blocker } from '@/contract/errors'
import type { SystemContext } from '../context'
import { ALL_CHECKS_MS, CHECK_MS } from '../limits/durations'
import { type Part, type RowOf, sql, statement, text } from '../sql'
import { subjectOf } from './events'
import { parsedBody, SIGNING_ROW, sendWebhook, signingOf } from './webhook'

/** Whether the application is asked for blockers of `user`, a value. */
export const needsCheck = (app: Part, user: Part) =>
  sql`${app}.checks AND ${app}.disabled_at IS NULL AND (${app}.audience = 'everyone'
     OR EXISTS (SELECT FROM app_connections c WHERE c.app_id = ${app}.id AND c.user_id = ${user}))`

const readAppsToAsk = statement(
  'applications-to-ask',
  { userId: text },
  { ...SIGNING_ROW, id: text, name: text, hosts: text.list, subject: text },
  (v) => sql`SELECT a.id, a.name, a.hosts, ${signingOf(sql`a`)},
     ${subjectOf(sql`u`)} AS subject
   FROM connected_apps a
   JOIN users u ON u.id = ${v.userId}
   LEFT JOIN app_connections c ON c.app_id = a.id AND c.user_id = u.id
   WHERE ${needsCheck(sql`a`, v.userId)}
   ORDER BY a.name, a.id`,
)

const RETRY_AFTER_SECONDS = 5

const cannotAsk = () =>
  new AppError(
    'SERVER_002',
    'A connected application did not say whether it holds the withdrawal back. Try again shortly.',
    RETRY_AFTER_SECONDS,
  )

/**
 * Asks all applications that may hold a person's withdrawal back. No database connection is held meanwhile. Refuses if one of them
 * gives no good answer, because a missing answer does not mean that nothing holds it back.
 */
export async function askApplications(ctx: SystemContext, userId: string): Promise<Blocker[]> {
  const apps = await ctx.sql(readAppsToAsk, { userId })
  const tooLate = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(cannotAsk()), ALL_CHECKS_MS).unref()
  })
  const answers = Promise.all(apps.map((app) => ask(ctx, app, userId)))
  return (await Promise.race([answers, tooLate])).flat()
}

async function ask(ctx: SystemContext, app: RowOf<typeof readAppsToAsk>, account: string): Promise<Blocker[]> {
  const body = JSON.stringify({
    type: 'account.withdrawal_check',
    timestamp: ctx.clock.now().toISOString(),
    data: { subject: app.subject, account },
  })
  const answer = await sendWebhook(ctx, app, { id: ctx.secrets.randomId('chk_'), body, bodyWithinMs: CHECK_MS })
  const found = answer.status === 200 ? checkAnswer.safeParse(parsedBody(answer)).data : undefined
  if (!found) {
    const problem = answer.problem ?? (answer.status === 200 ? 'not the answer of a check' : `HTTP ${answer.status}`)
    ctx.warn('withdrawal_check_failed', { appId: app.id, problem })
    throw cannotAsk()
  }
  const rules = { hosts: app.hosts, allowsHttp: ctx.allowsHttpLinks }
  return found.blockers.map(({ code, title, url, amount }) => ({
    code,
    title,
    url: url == null ? null : linkOf(url, rules),
    ...(amount && { amount }),
    source: app.name,
  }))
}
