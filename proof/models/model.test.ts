import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createStatusToken } from '@/domain/withdrawal/status-token'
import { wrongCode } from '@/testing/account'
import { type Answered, type Fault, Service } from './checked-service'
import { breaches } from './invariants'
import { type Account, type BucketName, type Call, expected, isExplained, live, type State } from './model'

/** A failure prints its seed. PROOF_SEED repeats the run, and PROOF_SHRINK looks for a shorter one. */
const PARAMETERS: fc.Parameters<[Iterable<Command>]> = {
  numRuns: Number(process.env.PROOF_RUNS ?? 10),
  ...(process.env.PROOF_SEED && { seed: Number(process.env.PROOF_SEED) }),
  endOnFailure: !process.env.PROOF_SHRINK,
}
const USERS = 3
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]
const UNKNOWN = `ecr_${'A'.repeat(22)}`

/** A call before it is known which request is pending and which code was mailed. */
type Plan =
  | { do: 'change'; user: number; as: 0 | 1 | 'token'; to: number; password: 'right' | 'wrong' | 'old' }
  | {
      do: 'verify'
      user: number
      as: 0 | 1 | 'token'
      request: 'own' | 'other' | 'unknown' | 'closed'
      code: 'right' | 'wrong' | 'old' | 'malformed'
    }
  | { do: 'resend' | 'cancel'; user: number; as: 0 | 1 | 'token'; request: 'own' | 'other' | 'unknown' | 'closed' }
  | { do: 'withdraw'; user: number; as: 0 | 1 | 'token'; isConfirmed: boolean }
  | { do: 'progress'; user: number; as: 0 | 1 | 'token' | 'status token' }
  | { do: 'status' | 'endOthers'; user: number; as: 0 | 1 | 'token' }
  | { do: 'endSession'; user: number; as: 0 | 1 | 'token'; session: 0 | 1 }
  | { do: 'signIn'; user: number; session: 0 | 1; isRight: boolean }
  | { do: 'setPassword'; user: number; password: number; keepTokens: boolean }
  | { do: 'addTransaction' | 'settle'; user: number }
  | { do: 'sweep' }

/** What a run remembers beside the state. */
interface Past {
  closed: string[]
  oldCodes: Map<string, string>
  oldPasswords: string[]
}

interface Run {
  service: Service
  past: Past
}

type Command = fc.AsyncCommand<{ state: State }, Run>

function toCall({ accounts }: State, past: Past, service: Service, plan: Plan): Call {
  if (plan.do === 'sweep') return plan
  const { user } = plan
  const account = accounts[user] as Account
  const other = accounts[(user + 1) % USERS] as Account
  const requests = {
    own: account.pending?.id ?? UNKNOWN,
    other: other.pending?.id ?? UNKNOWN,
    closed: past.closed.at(-1) ?? UNKNOWN,
    unknown: UNKNOWN,
  }
  switch (plan.do) {
    case 'change': {
      const passwords = { right: account.password, wrong: 'not the password', old: past.oldPasswords[user] ?? 'older' }
      const email = service.addresses[plan.to] as string
      return { do: 'change', user, as: plan.as, email, password: passwords[plan.password] }
    }
    case 'verify': {
      const request = requests[plan.request]
      const right = (plan.request === 'other' ? other : account).pending?.code ?? '123456'
      const codes = { right, wrong: wrongCode(right), old: past.oldCodes.get(request) ?? '654321', malformed: '12345' }
      return { do: 'verify', user, as: plan.as, request, code: codes[plan.code] }
    }
    case 'resend':
    case 'cancel':
      return { do: plan.do, user, as: plan.as, request: requests[plan.request] }
    case 'withdraw': {
      const confirmation = plan.isConfirmed ? 'DELETE_MY_ACCOUNT' : 'delete_my_account'
      return { do: 'withdraw', user, as: plan.as, confirmation }
    }
    case 'progress':
      return { do: 'progress', user, as: plan.as, withdrawal: account.withdrawal?.id ?? 'wd_none' }
    case 'signIn': {
      const password = plan.isRight ? account.password : 'not the password'
      return { do: 'signIn', user, session: plan.session, email: account.email, password }
    }
    case 'setPassword':
      return {
        do: 'setPassword',
        user,
        password: `password ${plan.password} set for ${account.id}`,
        keepTokens: plan.keepTokens,
      }
    default:
      return plan
  }
}

/** Whether the row of the plan exists. Plans with `unknown` cover the rows that do not. */
function isApplicable({ accounts }: State, plan: Plan): boolean {
  if ('request' in plan && plan.request === 'own') return accounts[plan.user]?.pending != null
  return plan.do !== 'progress' || plan.as === 'token' || accounts[plan.user]?.withdrawal != null
}

/** A sequential call answers with the code and the wait of the model and leaves its state, however often it is repeated. */
class SequentialCall implements Command {
  constructor(
    readonly plan: Plan,
    readonly times: number,
  ) {}
  check = ({ state }: Readonly<{ state: State }>) => isApplicable(state, this.plan)
  async run(model: { state: State }, run: Run) {
    for (let time = 0; time < this.times; time++) await this.runOnce(model, run)
  }
  private async runOnce(model: { state: State }, { service, past }: Run) {
    const before = structuredClone(model.state)
    const call = toCall(model.state, past, service, this.plan)
    const [answer] = (await service.perform(before, [call])) as [Answered]
    if (call.do === 'sweep') {
      expect(answer.code).toBe('OK')
      model.state = await service.observe(before)
      return remember(past, before, model.state)
    }
    const outcome = expected(model.state, call)
    expect(answer.code, JSON.stringify(call)).toBe(outcome.code)
    if (call.do !== 'signIn') expect(answer.retryAfter, JSON.stringify(call)).toBe(outcome.retryAfter)
    expect(answer).toMatchObject(outcome)
    const seen = await service.observe(withSessions(model.state, [call], [answer]))
    const sendsCode = call.do === 'change' || call.do === 'resend'
    if (sendsCode && outcome.code === 'OK') expect(seen.accounts[call.user]?.pending?.code).toMatch(/^[0-9]{6}$/)
    nameNew(model.state, seen)
    expect(comparable(model.state), JSON.stringify(call)).toEqual(comparable(seen))
    remember(past, before, seen)
    model.state = seen
  }
  toString = () => `${this.times} × ${JSON.stringify(this.plan)}`
}

/** Concurrent calls end as in some serial order, or are refused without effect. With a fault only the invariants hold. */
class ConcurrentCalls implements Command {
  constructor(
    readonly plans: Plan[],
    readonly fault: Fault | null,
  ) {}
  check = ({ state }: Readonly<{ state: State }>) => this.plans.every((plan) => isApplicable(state, plan))
  async run(model: { state: State }, { service, past }: Run) {
    const before = structuredClone(model.state)
    const calls = this.plans.map((plan) => toCall(model.state, past, service, plan))
    const answers = await service.perform(before, calls, this.fault)
    const codes = answers.map(({ code }) => code)
    if (!this.fault && calls.every((call) => call.do !== 'sweep')) {
      const isPossible = isExplained(before, calls, codes)
      expect(isPossible, `${JSON.stringify(calls)} ended as ${codes} from ${JSON.stringify(before)}`).toBe(true)
    }
    const seen = await service.observe(withSessions(model.state, calls, answers))
    remember(past, before, seen)
    model.state = seen
    expect(await uncounted(service, seen)).toEqual([])
  }
  toString = () => `${JSON.stringify(this.plans)}${this.fault ? ` ${this.fault.mode} ${this.fault.at}` : ''}`
}

class Turn implements Command {
  constructor(
    readonly what: string,
    readonly turn: (service: Service, state: State) => void,
  ) {}
  check = () => true
  async run(model: { state: State }, { service }: Run) {
    this.turn(service, model.state)
    model.state = await service.observe(model.state)
  }
  toString = () => this.what
}

const clock = (ms: number) => new Turn(`+${ms / SECOND} s`, ({ ctx }) => ctx.clock.advance(ms))
const turned = (what: 'mailUp' | 'appUp') => (up: boolean) =>
  new Turn(`${what} ${up}`, (_service, state) => {
    state[what] = up
  })

function withSessions(state: State, calls: Call[], answers: Answered[]): State {
  const known = structuredClone(state)
  for (const [index, call] of calls.entries()) {
    const id = answers[index]?.sessionId
    if (call.do !== 'signIn' || !id) continue
    const session = { id, expiresAt: known.now + 30 * DAY, ended: false }
    const account = known.accounts[call.user] as Account
    account.sessions[call.session] = session
  }
  return known
}

/** The model cannot know ids and codes before they are given. */
function nameNew(state: State, seen: State) {
  for (const [user, account] of state.accounts.entries()) {
    const real = seen.accounts[user] as Account
    if (account.pending?.id === 'new' && real.pending) account.pending.id = real.pending.id
    if (account.pending && account.pending.code === null) account.pending.code = real.pending?.code ?? null
    for (const [place, session] of account.sessions.entries()) {
      if (session.id === 'new') session.id = real.sessions[place]?.id ?? ''
    }
    const { withdrawal } = account
    if (!withdrawal || !real.withdrawal) continue
    if (withdrawal.id === 'new') withdrawal.id = real.withdrawal.id
  }
}

function remember(past: Past, before: State, after: State) {
  for (const [user, { pending, password }] of before.accounts.entries()) {
    const now = after.accounts[user] as Account
    if (pending && pending.id !== now.pending?.id) past.closed.push(pending.id)
    if (pending?.code && pending.code !== now.pending?.code) past.oldCodes.set(pending.id, pending.code)
    if (password !== now.password) past.oldPasswords[user] = password
  }
}

/** The state without the places whose window has ended. */
function comparable(state: State) {
  const filled = (lists: Record<string, number[]>, bucketOf = (key: string) => key as BucketName) =>
    Object.fromEntries(
      Object.entries(lists)
        .map(([key, hits]) => [key, live(hits, bucketOf(key), state.now).toSorted((a, b) => a - b)] as const)
        .filter(([, hits]) => hits.length > 0),
    )
  // An expired session works no more, whether it was ended or not.
  const over = <Access extends { ended: boolean; expiresAt: number }>(access: Access) => ({
    ...access,
    ended: access.ended || access.expiresAt <= state.now,
  })
  const targets = Object.entries(state.targets).map(([email, hits]) => [email, filled(hits)] as const)
  return {
    ...state,
    accounts: state.accounts.map((account) => ({
      ...account,
      sessions: account.sessions.map(over),
      token: over(account.token),
      hits: filled(account.hits),
    })),
    targets: Object.fromEntries(targets.filter(([, hits]) => Object.keys(hits).length > 0)),
    signIns: filled(state.signIns, () => 'signIn'),
  }
}

/** Every message that was taken over, and every request that was opened, holds a place: a fault may cost one, never give one. */
async function uncounted(service: Service, state: State): Promise<string[]> {
  const within = (time: Date, ms: number) => time.getTime() > state.now - ms
  const requests = await service.query<{ user_id: string; new_email_key: string; requested_at: Date }>(
    'SELECT user_id, new_email_key, requested_at FROM proof.requests',
  )
  const found: string[] = []
  for (const [email, { target, targetMail }] of Object.entries(state.targets)) {
    const mails = service.mails.filter(
      ({ template, to, at }) => template === 'verify-new-email' && to === email && within(at, DAY),
    )
    if (mails.length > targetMail.length) found.push(`${mails.length} mails, ${targetMail.length} places for ${email}`)
    const aimed = requests.filter((one) => one.new_email_key === email && within(one.requested_at, DAY))
    if (aimed.length > target.length) found.push(`${aimed.length} requests, ${target.length} places for ${email}`)
  }
  for (const { id, hits, withdrawal } of state.accounts) {
    const requested = requests.filter((one) => one.user_id === id && within(one.requested_at, HOUR))
    if (!withdrawal && requested.length > hits.change.length) {
      found.push(`${requested.length} requests, ${hits.change.length} places for ${id}`)
    }
  }
  return found
}

const user = fc.constantFrom(0, 0, 0, 1, 1, 2)
const as = fc.constantFrom('token', 'token', 'token', 'token', 'token', 0, 1)
const session = fc.constantFrom(0, 1)
const request = fc.constantFrom('own', 'own', 'own', 'own', 'other', 'closed', 'unknown')
const code = fc.constantFrom('right', 'right', 'wrong', 'wrong', 'wrong', 'old', 'malformed')
const password = fc.constantFrom('right', 'right', 'right', 'right', 'wrong', 'old')

const change = fc.record({
  do: fc.constant('change'),
  user,
  as,
  to: fc.constantFrom(0, 1, 2, ...Array(4).fill(USERS), ...Array(4).fill(USERS + 1)),
  password,
})
const verify = fc.record({ do: fc.constant('verify'), user, as, request, code })
const plans: fc.WeightedArbitrary<Plan>[] = [
  { weight: 8, arbitrary: change as fc.Arbitrary<Plan> },
  { weight: 9, arbitrary: verify as fc.Arbitrary<Plan> },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('resend'), user, as, request }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel'), user, as, request }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('withdraw'), user, as, isConfirmed: fc.constantFrom(true, false, false) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('progress'), user, as: fc.constantFrom(0, 1, 'token', 'status token') }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('status'), user, as }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('endOthers'), user, as }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('endSession'), user, as, session }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('signIn'), user, session, isRight: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('setPassword'),
      user,
      password: fc.nat({ max: 2 }),
      // Mostly kept: a user whose token has ended gets little else than AUTH_001.
      keepTokens: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('addTransaction'), user }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('settle'), user }) },
  { weight: 4, arbitrary: fc.constant({ do: 'sweep' }) },
] as fc.WeightedArbitrary<Plan>[]
const plan = fc.oneof(...plans)
const jump = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(SECOND, 4 * MINUTE, 5 * MINUTE - 1, 5 * MINUTE, 15 * MINUTE, HOUR - 1, HOUR),
  },
  { weight: 2, arbitrary: fc.constantFrom(12 * HOUR - 1, 12 * HOUR, DAY) },
  { weight: 1, arbitrary: fc.constantFrom(8 * DAY, 31 * DAY) },
)
const turn = fc.oneof(
  { weight: 6, arbitrary: jump.map(clock) },
  { weight: 2, arbitrary: fc.boolean().map(turned('mailUp')) },
  { weight: 1, arbitrary: fc.boolean().map(turned('appUp')) },
)
const fault: fc.Arbitrary<Fault> = fc.record({
  at: fc.integer({ min: 1, max: 12 }),
  mode: fc.constantFrom('dies before', 'dies after', 'cut before', 'cut after'),
})

const sequential = fc
  .tuple(plan, fc.constantFrom(1, 1, 1, 1, 2, 3, 6))
  .map(([one, times]) => new SequentialCall(one, times))
const repeated = fc.tuple(plan, fc.integer({ min: 2, max: 4 })).map(([one, times]) => Array(times).fill(one) as Plan[])
const batch = fc.oneof(fc.array(plan, { minLength: 2, maxLength: 4 }), repeated)
const concurrent = batch.map((all) => new ConcurrentCalls(all, null))
const faulty = fc
  .tuple(
    fc.oneof(
      plan.map((one) => [one]),
      batch,
    ),
    fault,
  )
  .map(([all, one]) => new ConcurrentCalls(all, one))

/** Texts that no table and no line of the log may hold. Each is long, because an id may hold any four letters by chance. */
async function secretsOf({ ctx, query, tokens, passwords }: Service): Promise<string[]> {
  const withdrawals = await query<{ id: string }>('SELECT id FROM withdrawals')
  const statusTokens = withdrawals.map(({ id }) => createStatusToken(ctx, id))
  return [...tokens, ...passwords, ...statusTokens, 'code=', 'pst_ses_']
}

async function holds(commands: Iterable<Command>) {
  const run = async () => {
    const { service, state } = await Service.begin(randomBytes(4).toString('hex'), USERS)
    return { model: { state }, real: { service, past: { closed: [], oldCodes: new Map(), oldPasswords: [] } } }
  }
  let started: Awaited<ReturnType<typeof run>> | undefined
  await fc.asyncModelRun(async () => {
    started = await run()
    return started
  }, commands)
  if (!started) return
  const { service } = started.real
  const secrets = await secretsOf(service)
  expect(await breaches({ ...service, secrets })).toEqual([])
  expect(await uncounted(service, started.model.state)).toEqual([])
  const log = service.logged.join()
  expect([...secrets, ...service.addresses].filter((secret) => log.includes(secret))).toEqual([])
}

const size = { maxCommands: 100, size: 'max' } as const

test('I1 I2 I3 I4 I5 I6 I7 I8 I9 I10 I11 I12 sequential calls answer exactly what the model says and leave the state that it predicts', {
  timeout: 3_600_000,
}, async () => {
  const commands = fc.commands([sequential, sequential, sequential, turn], size)
  await fc.assert(fc.asyncProperty(commands, holds), PARAMETERS)
})

test('B1 L9 I1 I2 I3 I4 I5 I6 I7 I8 I9 I10 I11 I12 concurrent calls end as in some serial order, and every invariant holds', {
  timeout: 3_600_000,
}, async () => {
  const commands = fc.commands([sequential, concurrent, concurrent, turn], size)
  await fc.assert(fc.asyncProperty(commands, holds), PARAMETERS)
})

test('F3 F6 L17 I1 I2 I3 I4 I5 I6 I7 I8 I9 I10 I11 I12 every invariant holds at whatever statement a process dies or loses its connection', {
  timeout: 3_600_000,
}, async () => {
  const commands = fc.commands([sequential, faulty, faulty, concurrent, turn], size)
  await fc.assert(fc.asyncProperty(commands, holds), PARAMETERS)
})
