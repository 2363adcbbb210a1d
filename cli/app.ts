import type * as z from 'zod'
import {
  type AppSettings,
  appSettings,
  type pingApp as pingContract,
  type removeApp as removeContract,
  type getApp as shownApp,
} from '@/contract/apps'
import type { Data } from '@/contract/define'
import { AppError, parseIssueMessage } from '@/contract/errors'
import { isGoodPing } from '@/contract/ping'
import { ACKNOWLEDGEMENTS, AUDIENCES, EVENT_TYPES } from '@/contract/vocabulary'
import { APP_PHASES } from '@/contract/withdrawal'
import { count, resultOfPing, WORDS } from '@/contract/words'
import { connectApp } from '@/domain/applications/connect'
import { endedTasksOf, listTasks } from '@/domain/applications/list-tasks'
import {
  DEFAULTS,
  getApp,
  listApps,
  pingApp,
  receiverOf,
  registerApp,
  removeApp,
  rotateAppSecret,
  setApp,
} from '@/domain/applications/manage'
import { actsOnApp } from '@/domain/audit'
import type { SystemContext } from '@/domain/context'
import { groupTroubles, problemsOf, troubleOfApp, watchTroubles } from '@/domain/withdrawal/watch-overview'
import { daysInWords, validityInWords } from '@/server/texts/duration-words'
import { checkReceiver } from './app-check.ts'
import { final, listOfChoices, reading, revocable, UsageError, type ValuesOf } from './command.ts'
import { sinceOf } from './overview.ts'
import {
  idOf,
  namedAccount,
  namedApp,
  sentenceOfReason,
  toEndpoint,
  toHost,
  toSeconds,
  toSubject,
  waiveReason,
} from './values.ts'

const id = { ...namedApp, positional: true, required: true } as const

const settings = {
  audience: { value: 'WHO', choices: AUDIENCES, means: 'Whether it is told about connected users or about everyone.' },
  acknowledges: { value: 'WHEN', choices: ACKNOWLEDGEMENTS, means: 'Whether it may accept a task and report later.' },
  'acknowledge-within': {
    value: 'PT24H',
    read: toSeconds,
    means: 'How long an accepted task may stay unreported: an ISO 8601 duration from PT1M to P30D.',
  },
  phase: { value: 'STEP', choices: APP_PHASES, means: 'The deletion step whose window its task belongs to.' },
  event: {
    value: 'TYPE',
    multiple: true,
    choices: EVENT_TYPES,
    means: 'A type of events that it wants beside account.withdrawn.',
  },
  include: {
    value: 'WHAT',
    multiple: true,
    choices: ['addresses', 'nothing'],
    means: 'What events carry beside IDs.',
  },
  checks: { means: 'It is asked before a withdrawal starts.' },
  confirms: { means: 'A day after it was told of a withdrawal it is asked whether the person is absent.' },
  poll: { means: 'It asks for its tasks and has no endpoint.' },
  host: { value: 'HOST', multiple: true, read: toHost, means: 'A host that links of its blockers may name.' },
  category: { value: 'WORD', multiple: true, means: 'What its reports may name as kept.' },
  reason: { value: 'WORD', multiple: true, means: 'Why it may keep that.' },
  'waive-reason': {
    value: 'CODE=SENTENCE',
    multiple: true,
    means: 'A reason of its own for which nobody waits any more; the person reads the sentence.',
  },
} as const

const withDefaults = {
  ...settings,
  audience: { ...settings.audience, otherwise: DEFAULTS.audience },
  acknowledges: { ...settings.acknowledges, otherwise: DEFAULTS.acknowledges },
  'acknowledge-within': {
    ...settings['acknowledge-within'],
    otherwise: `PT${DEFAULTS.acknowledge_within_s / 3600}H`,
  },
  phase: { ...settings.phase, otherwise: DEFAULTS.phase },
  include: { ...settings.include, otherwise: 'nothing' },
} as const

type GivenSettings = Partial<Record<'name' | 'endpoint', string | undefined>> & ValuesOf<typeof settings>

/** What is given, by the names and the rules of the API. */
function toSettings(given: GivenSettings): Partial<AppSettings> {
  if (given.poll && given.endpoint !== undefined) throw new UsageError('Give --endpoint or --poll, not both.')
  const some = <T>(list: readonly T[]) => (list.length > 0 ? list : undefined)
  const parsed = appSettings.partial().safeParse({
    name: given.name,
    endpoint: given.poll ? null : given.endpoint,
    audience: given.audience,
    acknowledges: given.acknowledges,
    acknowledge_within_seconds: given['acknowledge-within'],
    phase: given.phase,
    events: some(given.event),
    includes: some(given.include)?.filter((what) => what !== 'nothing'),
    checks: given.checks || undefined,
    confirms: given.confirms || undefined,
    hosts: some(given.host),
    categories: some(given.category),
    reasons: some(given.reason),
    waive_reasons: some(given['waive-reason']),
  })
  if (!parsed.success) throw new UsageError(ruleOf(parsed.error.issues[0]))
  return parsed.data
}

const OPTIONS: Record<string, keyof GivenSettings> = {
  events: 'event',
  includes: 'include',
  hosts: 'host',
  categories: 'category',
  reasons: 'reason',
  waive_reasons: 'waive-reason',
}

/** The rule of the API, which begins with the name of the member, with the name of the option instead. */
function ruleOf(issue?: z.core.$ZodIssue): string {
  const member = String(issue?.path[0])
  const { details = '' } = parseIssueMessage(issue?.message ?? '')
  return `--${OPTIONS[member] ?? member}${details.slice(member.length)}`
}

const NO_TEST_PERSON =
  'whether a person is absent: for that, give --confirms with --subject and --account of a test person whom the receiver has.'

type ShownApp = Data<typeof shownApp>

/** Such as “1 deletion task and 2 events wait”. */
function openOf({ open_tasks: tasks, deliveries: { waiting } }: ShownApp, verb: 'wait' | 'follow'): string {
  const open = [tasks > 0 && count(tasks, 'deletion task'), waiting > 0 && count(waiting, 'event')].filter(Boolean)
  return `${open.join(' and ') || 'nothing'} ${tasks + waiting > 1 ? verb : `${verb}s`}`
}

const MAX_SHOWN = 20

/** The open tasks of an application, and what was done to it and to its tasks. */
async function workOf(ctx: SystemContext, appId: string) {
  const [{ tasks, is_cut }, ended] = await Promise.all([
    listTasks(ctx, { appId, limit: MAX_SHOWN }),
    endedTasksOf(ctx, appId, MAX_SHOWN),
  ])
  return { tasks, is_cut, audit: await actsOnApp(ctx, { appId, tasks: [...tasks, ...ended], maxRows: MAX_SHOWN }) }
}

type Turned = ShownApp & { already?: true }

/** What is so already is not done again, and the audit has nothing of it. */
async function turn(ctx: SystemContext, wanted: { appId: string; disabled: boolean }): Promise<Turned> {
  const app = await getApp(ctx, wanted)
  return (app.disabled_at !== null) === wanted.disabled ? { ...app, already: true } : setApp(ctx, wanted)
}

/** Such as “When it reports so, within 1 day”; and that an application that should ask for its tasks never has. */
function forOperators({ acknowledges, acknowledge_within_seconds: seconds, ...app }: ShownApp) {
  const days = seconds / (24 * 60 * 60)
  const within = Number.isInteger(days) ? daysInWords('en', days) : validityInWords('en', seconds * 1000)
  return {
    ...app,
    acknowledges: acknowledges === 'later' ? `${WORDS.later}, within ${within}` : acknowledges,
    last_asked_at: app.last_asked_at ?? (app.endpoint === null ? 'Never' : null),
  }
}

/** An application that can be removed. */
async function removable(ctx: SystemContext, appId: string, waive: string | undefined): Promise<ShownApp> {
  const app = await getApp(ctx, { appId })
  if (app.open_tasks === 0 || waive) return app
  throw new AppError(
    'TASK_002',
    `The application has ${count(app.open_tasks, 'open deletion task')}. Wait, or add --waive with ${listOfChoices(waiveReason)}.`,
  )
}

const OLDER_ENDED =
  'The secret before the last one has ended, a day early: a receiver that has neither newer one refuses messages.'

export const appCommands = [
  reading({
    name: 'app list',
    summary: 'Lists the applications, the worst first, with what waits for them and what is wrong with them.',
    options: {},
    async run(ctx) {
      const [{ apps }, troubles] = await Promise.all([listApps(ctx), watchTroubles(ctx)])
      const problems = problemsOf(troubles)
      const worst = [...problems.keys()]
      const placeOf = ({ app_id }: { app_id: string }) => (problems.has(app_id) ? worst.indexOf(app_id) : worst.length)
      return {
        apps: apps
          .toSorted((one, other) => placeOf(one) - placeOf(other))
          .map((app) => ({
            ...app,
            failing: problems.get(app.app_id)?.failing ?? (app.disabled_at ? 'disabled' : null),
            late_since: problems.get(app.app_id)?.late_since ?? null,
          })),
      }
    },
  }),
  reading({
    name: 'app show',
    summary:
      'Shows an application, what is wrong with it, its open deletion tasks, and what was done to it and to them.',
    options: { id },
    async run(ctx, { id }) {
      const { app_id, name, ...settings } = await getApp(ctx, { appId: id })
      const trouble = groupTroubles(await watchTroubles(ctx)).apps.find((app) => app.app_id === id)
      return {
        app_id,
        name,
        failing: trouble ? troubleOfApp(trouble) : null,
        since: trouble ? sinceOf(trouble) : null,
        late_since: trouble?.late_since ?? null,
        ...settings,
        ...(await workOf(ctx, id)),
      }
    },
    says: forOperators,
  }),
  revocable({
    name: 'app register',
    summary: 'Registers an application and shows its signing secret this once.',
    options: {
      name: { value: 'NAME', required: true, means: 'The name, as people read it.' },
      endpoint: { value: 'URL', read: toEndpoint, means: 'Where its messages go.' },
      ...withDefaults,
    },
    example: '--name Billing --endpoint https://billing.example.com/account-events --audience everyone --checks',
    oneOf: ['endpoint', 'poll'],
    needsNoData: true,
    async run(ctx, given) {
      const { name = given.name, ...rest } = toSettings(given)
      const { appId, signingSecret } = await registerApp(ctx, { name, ...rest })
      return { app_id: appId, signing_secret: signingSecret }
    },
  }),
  revocable({
    name: 'app set',
    summary:
      'Changes an application; what is not given stays as it is, and a list that is given replaces the one before.',
    options: {
      id,
      name: { value: 'NAME', means: 'The name, as people read it.' },
      endpoint: { value: 'URL', read: toEndpoint, means: 'Where its messages go.' },
      ...settings,
      'no-checks': { means: 'It is not asked any more before a withdrawal starts.' },
      'no-confirms': { means: 'Withdrawals that start from now on end without its confirmation.' },
    },
    example: 'Billing --acknowledges later --acknowledge-within PT48H',
    async run(ctx, { id: appId, 'no-checks': noChecks, 'no-confirms': noConfirms, ...given }) {
      if (given.checks && noChecks) throw new UsageError('Give --checks or --no-checks, not both.')
      if (given.confirms && noConfirms) throw new UsageError('Give --confirms or --no-confirms, not both.')
      const off = { ...(noChecks && { checks: false }), ...(noConfirms && { confirms: false }) }
      const changes = { ...toSettings(given), ...off }
      if (Object.values(changes).every((value) => value === undefined)) throw new UsageError('Give what changes.')
      return setApp(ctx, { appId, ...changes })
    },
    says: forOperators,
  }),
  final({
    name: 'app rotate-secret',
    summary:
      'Makes a new signing secret and shows it this once; the one before signs beside it for a day, and an older one ends at once.',
    options: { id },
    async asks(ctx, { id }) {
      const { name, endpoint, previous_secret_until: until } = await getApp(ctx, { appId: id })
      if (endpoint === null)
        return `Make a new signing secret for ${name}? It fetches its tasks, and nothing is signed until it has an endpoint.`
      const ends = until ? 'The secret before the last one ends now, a day early.' : 'The one before signs for a day.'
      return `Make a new signing secret for ${name}? ${ends}`
    },
    async run(ctx, { id }) {
      const { previous_secret_until: until } = await getApp(ctx, { appId: id })
      const rotated = await rotateAppSecret(ctx, { appId: id })
      if (until) process.stderr.write(`${OLDER_ENDED}\n`)
      return rotated
    },
  }),
  reading({
    name: 'app ping',
    summary: 'Calls an application with a signed message that tells nothing, and shows its answer.',
    options: { id },
    async run(ctx, { id }) {
      const answer = await pingApp(ctx, { appId: id })
      if (isGoodPing(answer)) return answer
      const { endpoint } = await getApp(ctx, { appId: id })
      return { ...answer, error: resultOfPing(answer, endpoint ? new URL(endpoint).host : '') }
    },
    says: (answer: Data<typeof pingContract> & { error?: string }) => answer.error ?? resultOfPing(answer, ''),
  }),
  reading({
    name: 'app check',
    summary:
      'Sends a receiver signed, forged, doubled, late, cut and slow calls about a made-up person, and says what to mend.',
    options: {
      receiver: {
        value: 'APP|URL',
        positional: true,
        required: true,
        means: 'An application, by its app_… or its name; or the address of a receiver, with --secret.',
      },
      secret: { value: 'whsec_…', means: 'The signing secret that the receiver at this address knows.' },
      checks: { means: 'It is asked before a withdrawal starts, and so it is asked here.' },
      confirms: { means: 'It is asked whether a person is absent, and so it is asked here, about a test person.' },
      subject: { value: 'ID', read: toSubject, means: 'Its own ID of the test person; a wrong receiver deletes them.' },
      account: { value: 'usr_…', means: 'The account of the test person.' },
    },
    async run(ctx, { receiver: given, secret, checks, confirms, subject, account }) {
      const person = subject && account ? { subject, account } : undefined
      if (confirms !== (person !== undefined))
        throw new UsageError('--confirms needs --subject and --account of a test person whom the receiver has.')
      if (!secret && /^https?:/.test(given)) throw new UsageError('The address of a receiver needs --secret.')
      const receiver = secret
        ? { url: toEndpoint(given, 'The receiver'), secret, checks, confirms }
        : await receiverOf(ctx, await namedApp.find(ctx, given))
      const calls = await checkReceiver({ ...receiver, checks: checks || receiver.checks, appUrl: ctx.appUrl, person })
      const failed = calls.filter(({ result }) => result === 'FAIL').length
      const error = `${failed} of ${calls.length} calls were not answered as they have to be: "mend" says what to do, once for all calls that need it.`
      return {
        passed: calls.length - failed,
        failed,
        ...(receiver.confirms && !person && { not_tried: NO_TEST_PERSON }),
        calls,
        ...(failed > 0 && { error }),
      }
    },
  }),
  revocable({
    name: 'app disable',
    summary: 'Stops telling an application anything; what is open waits.',
    options: { id },
    run: (ctx, { id: appId }) => turn(ctx, { appId, disabled: true }),
    says: (app: Turned) =>
      app.already ? `${app.name} is disabled already.` : `${app.name} is disabled; ${openOf(app, 'wait')}.`,
  }),
  revocable({
    name: 'app enable',
    summary: 'Goes on telling an application that was disabled.',
    options: { id },
    run: (ctx, { id: appId }) => turn(ctx, { appId, disabled: false }),
    says: (app: Turned) =>
      app.already ? `${app.name} is enabled already.` : `${app.name} is enabled; ${openOf(app, 'follow')}.`,
  }),
  final({
    name: 'app remove',
    summary: 'Removes an application; refused while deletion tasks are open, unless they are waived.',
    options: { id, waive: waiveReason },
    async asks(ctx, { id, waive }) {
      const { name, open_tasks, waive_reasons } = await removable(ctx, id, waive)
      if (open_tasks === 0) return `Remove ${name}, which has no open deletion task?`
      const sentence = waive && sentenceOfReason(waive_reasons, waive)
      return `Remove ${name}, which has ${count(open_tasks, 'open deletion task')}? Each person reads: “${sentence}”`
    },
    async run(ctx, { id, waive }) {
      await removable(ctx, id, waive)
      return removeApp(ctx, { appId: id, waive })
    },
    says: ({ waived_tasks: waived }: Data<typeof removeContract>) =>
      `The app is removed.${waived > 0 ? ` Stopped waiting in ${count(waived, 'deletion')}.` : ''}`,
  }),
  revocable({
    name: 'app connect',
    summary: 'Connects an account to an application.',
    options: {
      ...namedAccount,
      app: { ...namedApp, required: true },
      subject: { value: 'ID', required: true, read: toSubject, means: "The application's own ID of the person." },
    },
    oneOf: ['user', 'email'],
    async run(ctx, { user, email, app: appId, subject }) {
      const userId = idOf({ user, email })
      return { connection_id: (await connectApp(ctx, { userId, appId, subject })).connectionId }
    },
  }),
]
