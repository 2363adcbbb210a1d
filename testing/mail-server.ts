import type { Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Certificate } from './certificate'
import { listening } from './listening'

export interface Mail {
  to: string[]
  messageId: string
  subject: string
  text: string
  /** Who had signed in, where the server wants that. */
  user?: string | undefined
  encrypted: boolean
}

/** TLS from the first byte or by STARTTLS, and a sign-in. */
export interface MailSecurity {
  tls: 'at once' | 'STARTTLS'
  certificate: Certificate
  user: string
  password: string
}

/** An SMTP server that keeps what it takes, can go away, and can let its clients wait. */
export class MailServer {
  readonly mails: Mail[] = []
  /** Sign-ins that were tried. */
  signIns = 0
  /** Messages that have arrived in full and await an answer. */
  waiting = 0
  private server: SMTPServer | undefined
  private readonly sockets = new Set<Socket>()
  private port = 0
  private held: Promise<void> | undefined

  private constructor(private readonly security: MailSecurity | undefined) {}

  /** Without `security` as mail servers of a local network are: no TLS, no sign-in. */
  static async start(security?: MailSecurity): Promise<MailServer> {
    const mail = new MailServer(security)
    await mail.startAgain()
    return mail
  }

  get url() {
    if (!this.security) return `smtp://127.0.0.1:${this.port}`
    const { tls, user, password } = this.security
    return `${tls === 'at once' ? 'smtps' : 'smtp'}://${user}:${password}@localhost:${this.port}`
  }

  /** Until the function that it returns is called, no message is answered. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.held = promise
    return () => {
      this.held = undefined
      resolve()
    }
  }

  async goAway(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.server?.server.close(() => resolve()))
    for (const socket of this.sockets) socket.destroy()
    await ended
  }

  async startAgain(): Promise<void> {
    this.server = new SMTPServer({
      ...(this.security ? this.secured(this.security) : { authOptional: true, disabledCommands: ['AUTH', 'STARTTLS'] }),
      disableReverseLookup: true,
      onData: (stream, session, done) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', async () => {
          this.waiting++
          await this.held
          this.waiting--
          const { user, secure: encrypted, envelope } = session
          this.mails.push({ ...parse(envelope.rcptTo, Buffer.concat(chunks).toString()), user, encrypted })
          done()
        })
      },
    })
    this.server.on('error', () => {})
    this.server.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
    })
    this.port = await listening(this.server.server, this.port)
  }

  private secured({ tls, certificate: { key, cert }, ...account }: MailSecurity): SMTPServerOptions {
    return {
      secure: tls === 'at once',
      key,
      cert,
      onAuth: ({ username, password }, _session, done) => {
        this.signIns++
        const isRight = username === account.user && password === account.password
        return isRight ? done(null, { user: username }) : done(new Error('wrong user or password'))
      },
    }
  }

  to(address: string): Mail[] {
    return this.mails.filter(({ to }) => to.includes(address))
  }
}

function parse(recipients: { address: string }[], raw: string): Omit<Mail, 'encrypted'> {
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(raw)?.[1]?.trim() ?? ''
  const text = raw.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  return {
    to: recipients.map(({ address }) => address),
    messageId: header('Message-ID'),
    subject: header('Subject'),
    text,
  }
}
