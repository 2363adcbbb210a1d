import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { SMTPServer } from 'smtp-server'
import { expect, type TestContext, test } from 'vitest'
import type { Instance } from '@/testing/instance'
import { listening } from '@/testing/listening'
import { changeEmail, emailStatus, givenPlainPerson, type Person } from '@/testing/person'
import { FAULTS_DIR } from '@/testing/run-directory'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'

const RECEIVING_SERVER = { host: '127.0.0.2', port: 2526 }
const RETURN_PATH = 'bounce@mail.accounts.test'
const SECRET = 'secret-of-the-mail-server'
const HOST = 'mx.accounts.test'
/** Where the mail servers are installed. */
const DIR = path.resolve(process.env.BOUNCES_DIR ?? '.data/bounces')

const LONG = `long${'g'.repeat(60)}`
type Answer = readonly [command: 'RCPT' | 'DATA', code: number, text: string]
/** The refusal of the receiving server, by the local part. */
const REFUSED: Record<string, Answer> = {
  unknown: [
    'RCPT',
    550,
    '5.1.1 <unknown@people.test>: Recipient address rejected: User unknown in virtual mailbox table',
  ],
  'no-status': ['RCPT', 550, 'no such user here'],
  'many-lines': [
    'RCPT',
    550,
    '5.1.1 The email account that you tried to reach does not exist.\r\n550-5.1.1 Please check for typos.\r\n550 5.1.1 gsmtp',
  ],
  'no-domain': ['RCPT', 550, '5.1.2 Bad destination host'],
  syntax: ['RCPT', 553, '5.1.3 The recipient address is not valid'],
  idn: ['RCPT', 550, '5.1.1 No such user'],
  moved: ['RCPT', 551, '5.1.6 User has moved'],
  disabled: ['RCPT', 550, '5.2.1 The mailbox is disabled'],
  full: ['RCPT', 552, '5.2.2 Mailbox full'],
  'full-at-end': ['DATA', 552, '5.2.2 The mailbox has no room for the message'],
  refused: ['RCPT', 550, '5.7.1 Sender address rejected: Access denied'],
  relay: ['RCPT', 554, '5.7.1 Relay access denied'],
  policy: ['DATA', 550, '5.7.26 Unauthenticated mail is not accepted'],
  content: ['DATA', 554, '5.6.0 Message content rejected'],
  'UPPER.Case': ['RCPT', 550, '5.1.1 No such user'],
  "o'brien+news": ['RCPT', 550, '5.1.1 No such user'],
  [LONG]: ['RCPT', 550, '5.1.1 No such user'],
}
const PUT_OFF: Record<string, Answer> = {
  later: ['RCPT', 451, '4.2.0 Greylisted, try again later'],
  'full-for-now': ['RCPT', 452, '4.2.2 Mailbox full'],
  'busy-at-end': ['DATA', 451, '4.3.0 Local problem, try again later'],
}
const ANSWERS = { ...REFUSED, ...PUT_OFF }
/** The recipients whose bounces differ in form: folded lines, a double bounce, and addresses in punycode, in capitals, with odd signs or too long. */
const KEPT = ['many-lines', 'idn', 'full-at-end', 'UPPER.Case', "o'brien+news", LONG, 'later']

interface MailSystem {
  name: string
  /** Writes its settings below the root of its copy of the system; bounces go to `url`. */
  configure(root: string, url: string): void
  command: readonly string[]
  /** Runs every second, where a waiting message is not tried again by itself. */
  retry?: readonly string[]
}

const write = (root: string, file: string, text: string) => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
  writeFileSync(path.join(root, file), text)
}
const curl = (url: string) =>
  `curl -s --max-time 30 -H 'Authorization: Bearer ${SECRET}' -H 'Content-Type: message/rfc822' --data-binary @- -D - -o /dev/null ${url} | grep -q '^HTTP/[0-9.]* [2-4]' || exit 75`

const postfix: MailSystem = {
  name: 'postfix',
  command: ['/usr/sbin/postfix', 'start-fg'],
  configure(root, url) {
    // The settings of docs/operations.md, but for the paths.
    const docs = readFileSync('docs/operations.md', 'utf8')
    const [lines = ''] = /^bounces unix [\s\S]*?(?=^```)/m.exec(docs) ?? []
    const [documented = ''] = /https:\S+\/dsn/.exec(lines) ?? []
    appendFileSync(path.join(root, 'etc/postfix/master.cf'), `\n${lines.replace(documented, url)}`)
    write(root, 'etc/postfix/bounce-header', `Authorization: Bearer ${SECRET}\n`)
    write(root, 'etc/postfix/transport', `${RETURN_PATH} bounces:\n`)
    write(
      root,
      'etc/postfix/main.cf',
      `compatibility_level = 3.6
myhostname = ${HOST}
mydestination =
local_recipient_maps =
alias_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relayhost = [${RECEIVING_SERVER.host}]:${RECEIVING_SERVER.port}
transport_maps = texthash:/etc/postfix/transport
recipient_delimiter = +
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 2s
delay_warning_time = 2s
maximal_queue_lifetime = 10s
bounce_queue_lifetime = 10s
maillog_file = /var/log/postfix.log
`,
    )
    const master = path.join(root, 'etc/postfix/master.cf')
    // Nothing of it is in a jail of its own: the copy of the system is one.
    const jailed = readFileSync(master, 'utf8')
    writeFileSync(master, jailed.replaceAll(/^(\w+ +(?:inet|unix) +\S+ +\S+ +)y/gm, '$1n'))
  },
}

const exim: MailSystem = {
  name: 'exim',
  command: ['/usr/sbin/exim4', '-bdf', '-q1s'],
  configure(root, url) {
    write(
      root,
      'etc/exim4/exim4.conf',
      `primary_hostname = ${HOST}
local_interfaces = 127.0.0.1
acl_smtp_rcpt = accept
acl_smtp_data = accept
host_lookup =
tls_advertise_hosts =
rfc1413_query_timeout = 0s
delay_warning = 2s
delay_warning_condition = yes
begin routers
bounces:
  driver = accept
  domains = mail.accounts.test
  local_part_suffix = +*
  local_parts = bounce
  transport = bounces
others:
  driver = manualroute
  route_list = * ${RECEIVING_SERVER.host}
  self = send
  transport = others
begin transports
bounces:
  driver = pipe
  command = /bin/sh -c "${curl(url)}"
  user = nobody
  envelope_to_add
others:
  driver = smtp
  port = ${RECEIVING_SERVER.port}
  allow_localhost
  hosts_avoid_tls = *
begin retry
* * F,8s,1s
`,
    )
  },
}

const opensmtpd: MailSystem = {
  name: 'opensmtpd',
  command: ['/usr/sbin/smtpd', '-d'],
  retry: ['/usr/sbin/smtpctl', 'schedule', 'all'],
  configure(root, url) {
    write(
      root,
      'etc/smtpd.conf',
      `queue ttl 10s
bounce warn-interval 2s
smtp sub-addr-delim "+"
listen on 127.0.0.1 port 25 hostname ${HOST}
table bounces { "@" = "nobody" }
action "bounces" mda "${curl(url)}" virtual <bounces>
action "others" relay helo ${HOST} host smtp://${RECEIVING_SERVER.host}:${RECEIVING_SERVER.port}
match from any for domain "mail.accounts.test" action "bounces"
match from any for any action "others"
`,
    )
  },
}

/** Starts the server that the mail server delivers to. It refuses each recipient with the answer of its local part. */
async function startReceivingServer(context: TestContext) {
  const answerTo = ({ address = '' }, command: Answer[0]) => {
    const answer = ANSWERS[address.split('@')[0] ?? '']
    return answer?.[0] === command ? Object.assign(new Error(answer[2]), { responseCode: answer[1] }) : null
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onRcptTo: (recipient, _session, done) => done(answerTo(recipient, 'RCPT')),
    onData(stream, { envelope: { rcptTo } }, done) {
      stream.resume()
      stream.on('end', () => done(answerTo(rcptTo[0] ?? { address: '' }, 'DATA')))
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(RECEIVING_SERVER.port, RECEIVING_SERVER.host, resolve))
  context.onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
}

/** Starts a relay between the mail server and the service, which keeps each bounce. */
async function startRelay(context: TestContext) {
  const relay = { bounces: [] as string[], url: '', instance: undefined as Instance | undefined }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    relay.bounces.push(body.toString())
    const { authorization = '', 'content-type': type = '' } = request.headers
    const answer = await fetch(`${relay.instance?.url}${request.url}`, {
      method: 'POST',
      headers: { Authorization: authorization, 'Content-Type': type },
      body,
    })
    response.writeHead(answer.status).end(await answer.text())
  })
  const port = await listening(server)
  context.onTestFinished(() => void server.close())
  relay.url = `http://127.0.0.1:${port}/api/v1/mail-events/dsn`
  return relay
}

async function startSystem(context: TestContext, { name, configure, command, retry }: MailSystem, url: string) {
  const root = path.join(DIR, name, 'root')
  configure(root, url)
  const child = spawn('chroot', [root, ...command], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk
    })
  const timer = retry && setInterval(() => spawn('chroot', [root, ...retry], { stdio: 'ignore' }), 1_000)
  context.onTestFinished(async () => {
    clearInterval(timer)
    child.kill()
    if (name === 'postfix') execFileSync('chroot', [root, '/usr/sbin/postfix', 'stop'], { stdio: 'ignore' })
  })
  await until(`${name} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`)
    return (await greeting()).includes('220')
  })
}

const greeting = () =>
  new Promise<string>((resolve) => {
    const socket = connect(25, '127.0.0.1')
    socket.once('data', (data) => {
      socket.end('QUIT\r\n')
      resolve(String(data))
    })
    socket.once('error', () => resolve(''))
  })

const addressOf = (name: string) => `${name}@${name === 'idn' ? 'bücher.test' : 'people.test'}`

/** For the fixtures of `server/adapters/mail-events/bounces`: without the text of the message that came back. */
function keep({ name }: MailSystem, bounces: readonly string[]) {
  const kept = bounces.filter((mail) => KEPT.includes(/^Final-Recipient: rfc822; ?(\S+)@/m.exec(mail)?.[1] ?? ''))
  const short = kept.map((mail) => {
    const end = mail.indexOf('\n\n', mail.search(/\nMessage-ID: <[0-9a-f]{40}@/))
    return mail.slice(0, end) + mail.slice(mail.trimEnd().lastIndexOf('\n--'))
  })
  writeFileSync(path.join(FAULTS_DIR, `${name}.mbox`), short.map((mail) => `From bounce\n${mail.trimEnd()}\n`).join(''))
}

test.for([postfix, exim, opensmtpd])(
  'a message that $name returns shows in the status of the change, and one that it puts off does once it gives up',
  async (system, context) => {
    const world = await givenWorld(context, {
      APP_URL: 'https://accounts.test',
      MAIL_FROM: 'Accounts <no-reply@accounts.test>',
      SMTP_URL: 'smtp://127.0.0.1:25',
      MAIL_RETURN_PATH: RETURN_PATH,
      MAIL_EVENTS_DSN: SECRET,
    })
    await startReceivingServer(context)
    const relay = await startRelay(context)
    await startSystem(context, system, relay.url)
    const instance = await world.start()
    relay.instance = instance
    const people = new Map<string, Person>()
    for (const name of Object.keys(ANSWERS)) {
      const person = { ...(await givenPlainPerson(world)), newEmail: addressOf(name) }
      people.set(person.id, person)
      expect([name, (await changeEmail(instance, person)).status]).toEqual([name, 200])
    }
    const deferred = new Set<string>()
    await until('every message has come back', async () => {
      const rows = await world.query<{ user_id: string; state: string }>(
        `SELECT user_id, state FROM mail_deliveries WHERE kind = 'verification'`,
      )
      for (const { user_id: id, state } of rows) if (state === 'deferred') deferred.add(people.get(id)?.newEmail ?? '')
      return rows.length === people.size && rows.every(({ state }) => state === 'undeliverable')
    }).finally(() => keep(system, relay.bounces))
    expect([...deferred].sort()).toEqual(Object.keys(PUT_OFF).map(addressOf).sort())
    for (const person of people.values()) {
      const { body } = await emailStatus(instance, person)
      expect(body.data.pending_change).toMatchObject({ new_email: person.newEmail, delivery: 'undeliverable' })
    }
    process.stdout.write(`  ${system.name}: ${relay.bounces.length} bounces of ${people.size} messages\n`)
  },
)
