import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { createWriteStream, type WriteStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { SystemContext } from '@/domain/context'
import { createNotMeToken } from '@/domain/email/not-me-token'
import { sha256 } from '@/domain/sessions/authenticate'
import { createSecrets } from '@/server/adapters/secrets'
import { wrongCode } from '@/testing/account'
import type { Answer, Instance } from '@/testing/instance'
import { givenPeople } from '@/testing/people'
import { changeEmail, emailStatus, mailedCode, type Person, verifyEmail, withdraw } from '@/testing/person'
import { KEYS, type World } from '@/testing/world'

// Clients that write down what they asked and what they were answered, for lab/histories/judge.go.

/** No limit refuses a call, and nothing is erased meanwhile. */
export const HISTORY_SETTINGS = {
  LOG_LEVEL: 'warn',
  WITHDRAWAL_TIME_SCALE: '1',
  WITHDRAWAL_RETENTION: 'P30D',
  ...Object.fromEntries(
    ['EMAIL_CHANGE', 'EMAIL_PASSWORD', 'EMAIL_PASSWORD_DAY', 'EMAIL_VERIFY', 'WITHDRAW', 'READ'].map((name) => [
      `${name}_LIMIT`,
      '100000',
    ]),
  ),
}

/** The audit rows of these clients. */
export const HISTORY_KINDS = [
  'email_change.requested',
  'email.changed',
  'email_change.cancelled',
  'email.reverted',
  'account.withdrawn',
]

type Kind = 'grant' | 'status' | 'change' | 'verify' | 'undo' | 'withdraw'

/** Numbers of the account's tokens, passwords and addresses. A change is named by the address that it asks for. */
interface Operation {
  kind: Kind
  token?: number
  password?: number
  address?: number
  isRight?: boolean
}

/** Bounds of a history, because the time of the judge grows steeply with its size. */
const MAX_CALLS = 60
const MAX_CHANGES = 12
const MAX_ATTEMPTS = 5
const CLIENTS_OF_LIFE = 2

interface Change {
  address: number
  id: string
  code: string
  calls: number
  hasRight: boolean
  /** Gets wrong codes only until no attempt is left. */
  isGuessed: boolean
}

/** One account, and what its clients know of it. */
class Life {
  readonly tokens: string[]
  readonly passwords: string[]
  readonly changes: Change[] = []
  password = 0
  addresses = 0
  calls = 0
  callsAfterEnd = 0
  isWithdrawn = false
  isShutOut = false

  constructor(readonly person: Person) {
    this.tokens = [person.token]
    this.passwords = [person.password]
  }

  get isOver() {
    return this.calls >= MAX_CALLS || this.callsAfterEnd > 6 || this.tokens.length > 60
  }
  addressOf = (number: number) => (number === 0 ? this.person.email : `n${number}-${this.person.mark}@example.test`)
  numberOf = (address: string | null) =>
    address === null || address === this.person.email ? 0 : Number(/^n(\d+)-/.exec(address)?.[1] ?? -1)
  as = (token: number): Person => ({ ...this.person, token: this.tokens[token] as string })
}

const oneOf = <T>(all: readonly T[]): T => all[randomInt(all.length)] as T
const isOnceIn = (times: number) => randomInt(times) === 0
const secrets = createSecrets({ auth: [KEYS.AUTH_SECRET], code: [KEYS.CODE_SECRET] })

export class Clients {
  calls = 0
  /** The accounts whose withdrawal was answered. */
  readonly withdrawn: Person[] = []
  private isOver = false
  private readonly file: WriteStream
  private readonly lives: Promise<void>[]
  private readonly waiting: Person[] = []

  /** `lives` accounts at a time. */
  constructor(
    private readonly world: World,
    readonly name: string,
    { lives }: { lives: number },
  ) {
    this.file = createWriteStream(name)
    this.lives = Array.from({ length: lives }, async () => {
      while (!this.isOver) {
        const person = await this.nextPerson().catch(() => sleep(200))
        if (!person) continue
        const life = new Life(person)
        await Promise.all(Array.from({ length: CLIENTS_OF_LIFE }, (_, client) => this.live(life, client)))
      }
    })
  }

  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.lives)
    await new Promise<void>((resolve) => this.file.end(resolve))
  }

  /** From the fault until another primary leads, in milliseconds of `performance.now()`. */
  noteOutage(call: number, end: number) {
    this.file.write(`${JSON.stringify({ kind: 'outage', call: toNs(call), return: toNs(end) })}\n`)
  }

  private async nextPerson(): Promise<Person | undefined> {
    if (this.waiting.length === 0) this.waiting.push(...(await givenPeople(this.world, 20)))
    // What has been read is dropped.
    if (this.world.mail.mails.length > 2_000) this.world.mail.mails.splice(0, 1_000)
    return this.waiting.pop()
  }

  private async live(life: Life, client: number) {
    while (!life.isOver && !(this.isOver && isOnceIn(20))) await this.step(life, client)
  }

  private async step(life: Life, client: number) {
    if (life.isWithdrawn) life.callsAfterEnd++
    if (life.isShutOut && !life.isWithdrawn) return this.grant(life, client)
    const token = isOnceIn(10) ? randomInt(life.tokens.length) : life.tokens.length - 1
    const kinds: Kind[] = ['status', 'status', 'status', 'status', 'status', 'change', 'verify', 'verify', 'verify']
    const kind = isOnceIn(40) ? 'withdraw' : isOnceIn(14) ? 'undo' : oneOf(kinds)
    if (kind === 'change' && life.addresses < MAX_CHANGES) return this.change(life, client, token)
    const change = life.changes.at(-1 - randomInt(2))
    if (kind === 'verify' && change) return this.verify(life, client, token, change)
    if (kind === 'undo' && life.changes.length > 0) return this.undo(life, client, oneOf(life.changes))
    if (kind === 'withdraw') {
      const answer = await this.ask(life, client, { kind, token }, (instance) => withdraw(instance, life.as(token)))
      if (answer?.status !== 202) return
      life.isWithdrawn = true
      this.withdrawn.push(life.as(token))
      return
    }
    const answer = await this.ask(life, client, { kind: 'status', token }, (instance) =>
      emailStatus(instance, life.as(token)),
    )
    if (token === life.tokens.length - 1) life.isShutOut = answer?.status === 401
  }

  /** As the person who signs in again and makes a token. */
  private async grant(life: Life, client: number) {
    const token = life.tokens.push(`uat_${randomBytes(32).toString('base64url')}`) - 1
    const { id } = life.person
    const insert = () =>
      this.world.query(
        `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
       VALUES ('tok_' || $1, $2, 'proof', $3, '{email:manage,account:manage}', now(), now() + interval '1 day')`,
        [randomBytes(9).toString('base64url'), id, sha256(life.tokens[token] as string)],
      )
    life.isShutOut = false
    await this.note(life, client, { kind: 'grant', token }, () => insert().then(() => ({ outcome: 'ok' })))
  }

  private async change(life: Life, client: number, token: number) {
    const address = ++life.addresses
    const password = isOnceIn(8) ? randomInt(life.passwords.length) : life.password
    const person = {
      ...life.as(token),
      newEmail: life.addressOf(address),
      password: life.passwords[password] as string,
    }
    await this.ask(life, client, { kind: 'change', token, password, address }, (instance) =>
      changeEmail(instance, person),
    )
    const { request: id, code } = mailedCode(this.world, person)
    if (!id) return
    const change = { address, id, code, calls: 0, hasRight: false, isGuessed: isOnceIn(8) }
    life.changes.push(change)
    while (change.isGuessed && change.calls < MAX_ATTEMPTS + 2) await this.verify(life, client, token, change)
  }

  /**
   * The attempt is counted before the code is compared and applied. So that no order of the calls is in doubt, the right code is never
   * the last attempt, and none is left over while it runs.
   */
  private async verify(life: Life, client: number, token: number, change: Change) {
    const mayBeRight = change.isGuessed ? change.calls > MAX_ATTEMPTS + 2 : change.calls < MAX_ATTEMPTS - 1
    const isRight = mayBeRight && !isOnceIn(3)
    if (!isRight && change.hasRight && change.calls >= MAX_ATTEMPTS) return
    change.calls++
    change.hasRight ||= isRight
    const { address, id: request } = change
    const code = isRight ? change.code : wrongCode(change.code)
    await this.ask(life, client, { kind: 'verify', token, address, isRight }, (instance) =>
      verifyEmail(instance, life.as(token), { request, code }),
    )
  }

  private async undo(life: Life, client: number, { id, address }: Change) {
    const password = life.passwords.push(`password ${randomBytes(6).toString('hex')}`) - 1
    const answer = await this.ask(life, client, { kind: 'undo', password, address }, (instance) =>
      instance.call({
        method: 'POST',
        path: `/api/v1/email-changes/${id}/not-me`,
        token: createNotMeToken({ secrets } as SystemContext, id),
        scope: 'email:manage',
        body: { new_password: life.passwords[password] },
      }),
    )
    if (answer?.status !== 200) return
    life.password = password
    life.isShutOut = true
  }

  private async ask(life: Life, client: number, operation: Operation, send: (instance: Instance) => Promise<Answer>) {
    let answer: Answer | undefined
    const outcome = async () => {
      const given = await send(oneOf(this.world.instances))
      if (given.status >= 500) throw new Error(String(given.status))
      answer = given
      const { data, error } = given.body
      if (given.status >= 300) return { outcome: 'refused', code: error.code }
      if (operation.kind !== 'status') return { outcome: 'ok' }
      const pending = life.numberOf(data.pending_change.new_email)
      return { outcome: 'ok', seen: { address: life.numberOf(data.current_email), pending } }
    }
    await this.note(life, client, operation, outcome)
    if (!answer) await this.untilServed(life)
    return answer
  }

  private async note(life: Life, client: number, operation: Operation, send: () => Promise<object>) {
    const call = performance.now()
    const answered = await send().catch(() => ({ outcome: 'unknown' }))
    // A read that was not answered says nothing.
    if (operation.kind === 'status' && 'outcome' in answered && answered.outcome === 'unknown') return
    const line = {
      account: life.person.id,
      client,
      ...operation,
      call: toNs(call),
      return: toNs(performance.now()),
      ...answered,
    }
    life.calls++
    this.calls++
    this.file.write(`${JSON.stringify(line)}\n`)
  }

  /** A call without an answer stays open to the end of the history, so each outage may leave only a few of them. */
  private async untilServed({ person }: Life) {
    while (!this.isOver) {
      await sleep(100)
      const answer = await emailStatus(oneOf(this.world.instances), person).catch(() => null)
      if (answer && answer.status < 500) return
    }
  }
}

const toNs = (ms: number) => Math.round(ms * 1e6)

export interface Judgement {
  accounts: number
  calls: number
  answers: Record<string, number>
  problems: string[]
  seconds: number
  megabytes: number
}

export async function judge(files: string[], flags: string[] = []): Promise<Judgement> {
  const run = promisify(execFile)(process.env.JUDGE as string, [...flags, ...files], { maxBuffer: 1 << 28 })
  const { stdout } = await run.catch((error) => error)
  return JSON.parse(stdout)
}
