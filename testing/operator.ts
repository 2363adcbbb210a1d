import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

type Answer = Record<string, string>

/** The operator command in batch mode: one command a line in, one answer a line out. */
export class Operator {
  private readonly child: ChildProcessWithoutNullStreams
  private readonly answers: AsyncIterator<string>

  constructor(settings: Record<string, string>, release = process.cwd()) {
    const env = { ...process.env, ...settings }
    this.child = spawn(process.execPath, ['scripts/account.mjs', 'batch'], { env, cwd: release })
    this.answers = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]()
  }

  async run(...words: string[]): Promise<Answer> {
    this.child.stdin.write(`${words.map((word) => `'${word}'`).join(' ')}\n`)
    const { value } = await this.answers.next()
    const answer = JSON.parse(value) as Answer
    if (answer.error) throw new Error(`${words[0]} ${words[1]}: ${answer.error}`)
    return answer
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.stdin.end()
    await ended
  }
}

/** An access token of this account, with the scopes of its two flows. */
export async function createToken(operator: Operator, userId: string, name = 'operator'): Promise<string> {
  const scopes = ['--scope', 'email:manage', '--scope', 'account:manage']
  const { access_token = '' } = await operator.run('token', 'create', '--user', userId, '--name', name, ...scopes)
  return access_token
}

interface Account {
  email: string
  password: string
  name: string
  isVerified?: boolean
}

/** Returns the id of the new account. */
export async function createAccount(
  operator: Operator,
  { email, password, name, isVerified }: Account,
): Promise<string> {
  const facts = ['--email', email, '--password', password, '--name', name]
  const { user_id } = await operator.run('user', 'create', ...facts, ...(isVerified ? ['--verified'] : []))
  return user_id ?? ''
}
