import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createUser, setPassword } from '@/domain/accounts/user'
import { signIn } from '@/domain/passwords/sign-in'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { codeSentTo } from '@/testing/account'
import { type Asking, call, day, hour, minute } from '@/testing/api-calls'
import { givenCaller, givenToken } from '@/testing/callers'
import { linksTo, type NotMeLink } from '@/testing/not-me'
import { emailOf, givenService, mailsTo, type Service } from '@/testing/service'

// Two actors: an owner who has nothing but the old mailbox, and a thief who has password, session and new mailboxes.

const PARAMETERS: fc.Parameters<[Move[]]> = {
  numRuns: Number(process.env.PROOF_RUNS ?? 30),
  ...(process.env.PROOF_SEED && { seed: Number(process.env.PROOF_SEED) }),
  endOnFailure: !process.env.PROOF_SHRINK,
}
const WIDE = { places: 1000, windowMs: hour }
const LIMITS = {
  change: WIDE,
  verify: WIDE,
  target: WIDE,
  targetMail: WIDE,
  withdraw: WIDE,
  notMe: WIDE,
  notMeAddress: WIDE,
  withdrawalRequest: WIDE,
  withdrawalRequestDay: WIDE,
  withdrawalRequestPair: WIDE,
  withdrawalRequestAddress: WIDE,
}

type Move =
  | { do: 'change' | 'verify' | 'resend' | 'cancel' | 'set password' | 'make a token' | 'sign in' | 'withdraw' }
  /** Somebody asks for a deletion link at this address; the reader of each mailbox confirms every link in it. */
  | { do: 'delete by mail'; which: number }
  /** One of the links in the mailboxes of this actor. */
  | { do: 'redeem'; by: 'thief' | 'owner'; which: number }
  /** The thief, or anybody, signs up with an address that the account had. */
  | { do: 'occupy'; which: number }
  /** The thief learns the password once more. */
  | { do: 'steal the password' }
  | { do: 'wait'; ms: number }

class Story {
  private readonly mailboxes: string[] = []
  private readonly tokens: string[] = []
  private made = 0
  private password: string
  private thiefKnows: string | null
  private pending: { id: string; to: string } | null = null
  /** The first change that the owner did not make, since the account was last theirs. */
  private theft: { id: string; at: number } | null = null
  /** When the address was last changed or given back. */
  private addressChangedAt: number | null = null
  /** The message about the withdrawal that the old address has to receive. */
  private notifiedBy: string | null | undefined

  private constructor(
    private readonly ctx: Service,
    private readonly userId: string,
    readonly owned: string,
    password: string,
  ) {
    this.password = password
    this.thiefKnows = password
  }

  static async begin() {
    const ctx = await givenService(LIMITS)
    const { userId, email, password, token } = await givenCaller(ctx)
    const story = new Story(ctx, userId, email, password)
    story.tokens.push(token)
    return story
  }

  async play(moves: Move[]) {
    for (const move of moves) {
      this.ctx.clock.advance(minute)
      await this.make(move)
      await this.ctx.settle()
    }
  }

  private async make(move: Move): Promise<void> {
    switch (move.do) {
      case 'wait':
        return this.ctx.clock.advance(move.ms)
      case 'change': {
        const to = `thief-${randomBytes(6).toString('hex')}@example.test`
        const body = { new_email: to, current_password: this.thiefKnows ?? 'unknown' }
        const { code, data } = await this.asThief('changeEmail', { body })
        if (code !== 'accepted') return
        this.mailboxes.push(to)
        this.pending = { id: String(data.change_request_id), to }
        return
      }
      case 'verify': {
        if (!this.pending) return
        const { id, to } = this.pending
        const from = await emailOf(this.ctx, this.caller)
        const body = { change_request_id: id, verification_code: codeSentTo(this.ctx, to) }
        const { code } = await this.asThief('verifyEmail', { body })
        if (code !== 'accepted') return
        this.addressChangedAt = this.ctx.clock.now().getTime()
        if (from === this.owned) this.theft = { id, at: this.addressChangedAt }
        return
      }
      case 'resend':
        this.ctx.clock.advance(5 * minute)
        await this.asThief('resendVerification', { body: { change_request_id: this.pending?.id } })
        return
      case 'cancel':
        await this.asThief('cancelEmailChange', { ids: { changeRequestId: this.pending?.id ?? 'none' } })
        return
      case 'set password': {
        // Every way to set a password asks for the present one.
        if (this.thiefKnows !== this.password || !(await this.holds(this.tokens))) return
        this.thiefKnows = `password ${++this.made} of the thief`
        this.password = this.thiefKnows
        await setPassword(this.ctx, { userId: this.userId, password: this.password, keepTokens: true })
        return
      }
      case 'make a token':
        if (await this.holds(this.tokens)) this.tokens.push((await givenToken(this.ctx, this.userId)).token)
        return
      case 'sign in':
        return this.thiefSignsIn()
      case 'withdraw': {
        const address = await emailOf(this.ctx, this.caller)
        const { status } = await this.asThief('withdrawAccount', { body: { confirmation: 'DELETE_MY_ACCOUNT' } })
        if (status !== 202) return
        const isRecent = this.theft && this.ctx.clock.now().getTime() - this.theft.at < 7 * day
        this.notifiedBy = isRecent ? 'account-withdrawal-told' : null
        if (address === this.owned) this.notifiedBy = 'account-withdrawal-started'
        return
      }
      case 'delete by mail': {
        const boxes = [this.owned, ...this.mailboxes]
        const email = boxes[move.which % boxes.length] as string
        await call({ userId: '' }, 'requestWithdrawal', { body: { email }, ip: `client ${this.made++}` })
        await this.ctx.settle()
        for (const token of boxes.flatMap((box) => deletionTokensTo(this.ctx, box))) {
          const asking = { body: { confirmation: 'DELETE_MY_ACCOUNT' } }
          const { data } = await call({ userId: '', token }, 'confirmRequestedWithdrawal', asking)
          // The mailbox may be that of a stranger's account too.
          if (data.user_id === this.userId) this.expectUndoWindowEnded()
        }
        return
      }
      case 'redeem': {
        const boxes = move.by === 'owner' ? [this.owned] : this.mailboxes
        const links = boxes.flatMap((box) => linksTo(this.ctx, box))
        const link = links[move.which % Math.max(1, links.length)]
        if (link) await this.redeem(link, move.by)
        return
      }
      case 'occupy': {
        const freed = [this.owned, ...this.mailboxes][move.which % (1 + this.mailboxes.length)] as string
        const stranger = { email: freed, password: 'a stranger', name: 'Grace', emailVerified: true }
        await createUser(this.ctx, stranger).catch(() => {})
        return
      }
      case 'steal the password':
        this.thiefKnows = this.password
    }
  }

  private expectUndoWindowEnded() {
    const now = this.ctx.clock.now().getTime()
    if (this.addressChangedAt !== null) expect(now - this.addressChangedAt).toBeGreaterThanOrEqual(7 * day)
    this.notifiedBy = null
  }

  private get caller() {
    return { userId: this.userId, email: this.owned, password: '', sessionId: '', token: '' }
  }

  /** With the newest credential that works. */
  private async asThief(operation: string, asking: Asking) {
    const token = await this.working(this.tokens)
    return call({ userId: this.userId, token: token ?? this.tokens.at(-1) ?? '' }, operation, asking)
  }

  private async working(tokens: string[]): Promise<string | undefined> {
    for (const token of tokens.toReversed()) {
      if ((await call({ userId: this.userId, token }, 'getEmailStatus')).code === 'accepted') return token
    }
    return undefined
  }
  private readonly holds = async (tokens: string[]) => (await this.working(tokens)) !== undefined

  private async thiefSignsIn() {
    const email = await emailOf(this.ctx, this.caller)
    const input = { email, password: this.thiefKnows ?? 'unknown', userAgent: '', ip: '192.0.2.9' }
    const signedIn = await signIn(this.ctx, input).catch(() => null)
    if (signedIn) this.tokens.push(createSessionToken(this.ctx, signedIn.sessionId).token)
  }

  private async redeem({ id, token }: NotMeLink, by: 'thief' | 'owner') {
    const password = `password ${++this.made} of the ${by}`
    const asking = { ids: { changeRequestId: id }, body: { new_password: password } }
    const { code, data } = await call({ userId: '', token }, 'undoEmailChange', asking)
    if (code !== 'accepted') return code
    if (data.status === 'reverted') this.addressChangedAt = this.ctx.clock.now().getTime()
    this.password = password
    this.thiefKnows = by === 'thief' ? password : null
    if ((await emailOf(this.ctx, this.caller)) === this.owned) this.theft = null
    return code
  }

  /** Whoever held the address before the first change that they did not make gets the account back within seven days of that change. */
  async holdsInTheEnd() {
    await this.ctx.settle()
    const now = this.ctx.clock.now().getTime()
    if (this.notifiedBy !== undefined) {
      const templates = mailsTo(this.ctx, this.owned).map(({ message }) => message.template)
      if (this.notifiedBy) expect(templates).toContain(this.notifiedBy)
      return
    }
    if (!this.theft || now - this.theft.at >= 7 * day) return
    const { id } = this.theft
    const link = linksTo(this.ctx, this.owned).find((one) => one.id === id) as NotMeLink
    const code = await this.redeem(link, 'owner')
    const everyLink = [this.owned, ...this.mailboxes].flatMap((box) => linksTo(this.ctx, box))
    expect(code).toBe('accepted')
    expect(await this.enters()).toBe(true)
    expect(await this.holds(this.tokens)).toBe(false)
    // None of the thief's links takes it away again.
    for (const { id: changeRequestId, token } of everyLink) {
      if (changeRequestId === id || linksTo(this.ctx, this.owned).some((own) => own.id === changeRequestId)) continue
      const asking = { ids: { changeRequestId }, body: { new_password: 'the last password of the thief' } }
      expect((await call({ userId: '', token }, 'undoEmailChange', asking)).code).toBe('EMAIL_006')
    }
    expect(await this.enters()).toBe(true)
  }

  private async enters() {
    const input = { email: this.owned, password: this.password, userAgent: '', ip: '192.0.2.1' }
    const signedIn = await signIn(this.ctx, input).catch(() => null)
    return signedIn?.userId === this.userId
  }
}

/** The tokens of the deletion links that were mailed to this address. */
const deletionTokensTo = (ctx: Service, address: string): string[] =>
  mailsTo(ctx, address).flatMap(({ message }) =>
    message.template === 'withdrawal-requested' ? [message.link.split('#token=')[1] ?? ''] : [],
  )

const which = fc.nat({ max: 5 })
const only = (...moves: Exclude<Move['do'], 'redeem' | 'occupy' | 'wait' | 'delete by mail'>[]) =>
  fc.constantFrom(...moves).map((move) => ({ do: move }) as Move)
const deleteByMail: fc.Arbitrary<Move> = fc.record({ do: fc.constant('delete by mail' as const), which })
const redeem = (by: 'thief' | 'owner'): fc.Arbitrary<Move> =>
  fc.record({ do: fc.constant('redeem' as const), by: fc.constant(by), which })
const wait: fc.Arbitrary<Move> = fc.record({
  do: fc.constant('wait' as const),
  ms: fc.constantFrom(hour, day, 3 * day, 7 * day - minute, 7 * day),
})
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 8, arbitrary: only('change') },
  { weight: 10, arbitrary: only('verify') },
  { weight: 6, arbitrary: only('resend', 'cancel', 'set password', 'make a token', 'sign in') },
  { weight: 3, arbitrary: only('steal the password') },
  { weight: 4, arbitrary: redeem('thief') },
  { weight: 2, arbitrary: redeem('owner') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('occupy' as const), which }) },
  { weight: 1, arbitrary: only('withdraw') },
  { weight: 4, arbitrary: deleteByMail },
  { weight: 3, arbitrary: wait },
)

test('B45 B46 B47 B54 whoever held the address before a theft gets the account back within seven days, whatever the thief does', {
  timeout: 600_000,
}, async () => {
  const story = fc.asyncProperty(fc.array(move, { minLength: 4, maxLength: 24, size: 'max' }), async (moves) => {
    const played = await Story.begin()
    await played.play(moves)
    await played.holdsInTheEnd()
  })
  await fc.assert(story, PARAMETERS)
})

test('B54 B62 a person who holds only mailboxes deletes nothing within seven days of a change or an undo', {
  timeout: 7_200_000,
}, async () => {
  // The theft comes first, because without one nothing could go wrong.
  const theft: Move[] = [{ do: 'change' }, { do: 'verify' }]
  const later = fc.oneof(only('change', 'verify'), redeem('thief'), redeem('owner'), deleteByMail, deleteByMail, wait)
  const story = fc.asyncProperty(fc.array(later, { minLength: 2, maxLength: 5 }), async (moves) => {
    const played = await Story.begin()
    await played.play([...theft, ...moves])
  })
  await fc.assert(story, PARAMETERS)
})
