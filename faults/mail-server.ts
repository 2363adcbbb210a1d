import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface Mail {
  to: string[]
  messageId: string
  subject: string
  text: string
}

/** An SMTP server that keeps what it takes, can go away, and can let its clients wait. */
export class MailServer {
  readonly mails: Mail[] = []
  /** Messages that have arrived in full and await an answer. */
  waiting = 0
  private server: SMTPServer | undefined
  private readonly sockets = new Set<Socket>()
  private port = 0
  private held: Promise<void> | undefined

  static async start(): Promise<MailServer> {
    const mail = new MailServer()
    await mail.comeBack()
    return mail
  }

  get url() {
    return `smtp://127.0.0.1:${this.port}`
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

  async comeBack(): Promise<void> {
    this.server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      onData: (stream, session, done) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', async () => {
          this.waiting++
          await this.held
          this.waiting--
          this.mails.push(parse(session.envelope.rcptTo, Buffer.concat(chunks).toString()))
          done()
        })
      },
    })
    this.server.on('error', () => {})
    this.server.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
    })
    await new Promise<void>((resolve) => this.server?.listen(this.port, '127.0.0.1', resolve))
    this.port = (this.server.server.address() as AddressInfo).port
  }

  to(address: string): Mail[] {
    return this.mails.filter(({ to }) => to.includes(address))
  }
}

function parse(recipients: { address: string }[], raw: string): Mail {
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(raw)?.[1]?.trim() ?? ''
  const text = raw.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  return {
    to: recipients.map(({ address }) => address),
    messageId: header('Message-ID'),
    subject: header('Subject'),
    text,
  }
}
