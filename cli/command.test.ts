import { expect, onTestFinished, test, vi } from 'vitest'
import { WITHDRAWAL_STATES } from '@/contract/operator'
import { WORDS } from '@/contract/words'
import { version } from '../package.json'
import { parseCall } from './command.ts'
import { COMMANDS } from './commands.ts'
import { jsonOfRefusal, sentenceOf, splitWords } from './execute.ts'
import { exampleOf, helpFor, whereHelpIs } from './help.ts'
import { memberOf, showAnswer, wrapRefusal } from './show.ts'

const refusal = (line: string, inBatch = false): string => {
  try {
    parseCall(COMMANDS, splitWords(line), { inBatch })
    return 'accepted'
  } catch (error) {
    return sentenceOf(error)
  }
}

const help = (line: string) => helpFor(COMMANDS, splitWords(line)) ?? ''

test('the table has each command once', () => {
  const names = COMMANDS.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
})

const SIGNS_IN = '--endpoint must hold no user name or password: no such URL is called.'
const ID_OF_ADDRESS = 'Give the account by its ID, usr_…; user find --email shows the ID of an address.'
const BY_EMAIL = '--user takes an ID, usr_…; give an address by --email.'

test.each([
  ['', 'The command is missing; --help lists all of them.'],
  ['usr create', 'Unknown command usr. Did you mean user?'],
  ['shop create', 'Unknown command shop. --help lists all of them.'],
  ['deletion show', 'Unknown command deletion. Did you mean withdrawal?'],
  ['account show', 'Unknown command account. Did you mean user?'],
  ['application list', 'Unknown command application. Did you mean app?'],
  ['overview now', 'overview takes no value without an option; quote a value with spaces.'],
  ['app shwo', 'app has no command shwo. Did you mean app show?'],
  ['transaction', 'transaction needs one of list, add, settle, cancel after it.'],
  ['transaction --user usr_1', 'transaction needs one of list, add, settle, cancel after it.'],
  ['session toString', 'session has no command toString. It has list, end.'],
  ['app set app_1 --nochecks', 'app set has no option --nochecks. Did you mean --no-checks?'],
  ['user create --passwrod=secret', 'user create has no option --passwrod. Did you mean --password?'],
  ['user create --constructor x', 'user create has no option --constructor. --help lists all of them.'],
  ['user create -e', 'user create has no option -e. --help lists all of them.'],
  ['user create --password correct horse', 'user create takes no value without an option; quote a value with spaces.'],
  ['user create --email', '--email needs a value.'],
  ['user create --email --name Ada', '--email needs a value; write --email=VALUE for one that begins with a hyphen.'],
  ['user create --email a@b.test --email c@d.test', '--email is given more than once.'],
  ['user create --verified=yes', '--verified takes no value.'],
  ["user create --email '' --name Ada --password x", '--email is missing.'],
  ['user create --email a@b.test --name Ada', 'Give exactly one of --password, --password-stdin.'],
  ['user create', '--email is missing. --name is missing. Give exactly one of --password, --password-stdin.'],
  ['user export', '--all is missing. Exports all accounts.'],
  [
    'withdrawal list --state gone',
    '--state must be one of processing, completed, purged; or, as the pages say, in progress, fully erased.',
  ],
  ['user set-role --user usr_1 --role admin', '--role must be operator or none.'],
  [
    'task waive msg_1',
    "--reason is missing: one of gone, refused, unreachable, or a code of the application's --waive-reason.",
  ],
  [
    'task waive',
    "task waive takes exactly one ID: give the whole ID that task list shows. --reason is missing: one of gone, refused, unreachable, or a code of the application's --waive-reason.",
  ],
  ['withdrawal start a@b.test', 'withdrawal start takes this by --email.'],
  ['token list --email a@b.test c@d.test', '--email is given more than once.'],
  ['session end usr_1', 'session end takes this by --user.'],
  ['user set-email a@b.test --email c@d.test', 'Name the account by --user usr_…; --email is the new address.'],
  ['--json', 'The command is missing; --help lists all of them.'],
  ['token create --user usr_1 --scope x', '--scope must be one or more of email:manage, account:manage.'],
  ['app register --name x --endpoint ftp://a.test/', '--endpoint must be a URL that begins with https:// or http://.'],
  ['app register --name x --endpoint a.test/', '--endpoint must be a URL that begins with https:// or http://.'],
  ['app register --name x --endpoint https://user@a.test/', SIGNS_IN],
  ['app register --name x --endpoint https://:pw@a.test/', SIGNS_IN],
  ['withdrawal show', 'withdrawal show takes exactly one ID: withdrawal list shows the IDs.'],
  ['app enable', 'app enable takes exactly one ID or name: app list shows the IDs.'],
  ['withdrawal show --id wd_1', 'withdrawal show has no option --id. --help lists all of them.'],
  ['user set-password --user a@b.test --password-stdin', ID_OF_ADDRESS],
  ['user set-password --email a@b.test --password-stdin', ID_OF_ADDRESS],
  ['token list --user a@b.test', BY_EMAIL],
  ['token list --user usr_1 --email a@b.test', 'Give exactly one of --user, --email.'],
])('%j is refused with a sentence', (line, sentence) => {
  expect(refusal(line)).toBe(sentence)
})

test.each([
  'user create --email a@b.test --name Ada --password=-secret',
  'user create --name=Ada --email a@b.test --password-stdin --json',
  'withdrawal show -- -wd_1',
  'overview --wide',
  'app register --name x --endpoint https://a.test/a@b?user=c --event account.withdrawn --event account.withdrawal_started',
  'token create --user usr_1 --scope email:manage --scope email:manage',
  'task waive msg_1 --reason merged',
  'task list wd_1',
  'token list a@b.test',
])('%s is accepted', (line) => {
  expect(refusal(line)).toBe('accepted')
})

test('a command that prints many lines is refused in a batch', () => {
  expect(refusal('user export --all')).toBe('accepted')
  expect(refusal('user export --all', true)).toBe('user export does not work in a batch: it prints many lines.')
  expect(refusal('user export --all --only email')).toBe('--only does not work with user export: it prints many lines.')
  expect(refusal('app list --only apps', true)).toBe('--only does not work in a batch: it prints many lines.')
})

test('a refusal says where the help of its command is, if the words name one', () => {
  vi.stubEnv('npm_lifecycle_event', 'account')
  onTestFinished(() => void vi.unstubAllEnvs())
  const sentence = '\nnpm run -s account -- user set-role --help explains its options.'
  expect(whereHelpIs(COMMANDS, ['user', 'set-role', 'usr_1', 'operator'])).toBe(sentence)
  expect(whereHelpIs(COMMANDS, ['user', 'constructor'])).toBe('')
  expect(whereHelpIs(COMMANDS, [])).toBe('')
})

test('a database that cannot be reached is told with the setting that names it', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { syscall: 'connect' })
  const sentence = 'DATABASE_URL: no connection: connect ECONNREFUSED 127.0.0.1:5432.'
  expect(sentenceOf(refused)).toBe(sentence)
  expect(JSON.parse(jsonOfRefusal(refused))).toEqual({ code: 'SERVER_002', message: sentence })
  expect(sentenceOf(new AggregateError([refused, refused]))).toBe(sentence)
  expect(sentenceOf(new Error('timeout exceeded when trying to connect'))).toMatch(
    /^DATABASE_URL: no connection in time: .+ What was not done by then is not done/,
  )
})

test('--version prints the version of the service', () => {
  for (const word of ['--version', 'version']) expect(helpFor(COMMANDS, [word])).toBe(`${version}\n`)
})

test('the help of all commands lists each with its sentence', () => {
  for (const line of ['--help', 'help', '-h']) {
    for (const command of COMMANDS) expect(help(line)).toContain(command.summary)
    expect(help(line)).toContain('  batch ')
    expect(help(line)).toContain('The pages say app, deletion, fully erased, stop waiting;')
    expect(help(line)).toContain('user import, user export, and audit export print a line of JSON a row everywhere.')
    expect(help(line)).toContain('may be its beginning, from six characters after the prefix on.')
  }
  expect(helpFor(COMMANDS, ['user', 'show', 'usr_1'])).toBeNull()
})

test.each([
  ['account', 'npm run -s account --'],
  [undefined, 'node dist/account.mjs'],
])('the help names commands as they are started, with the npm script %s as %s', (script, start) => {
  vi.stubEnv('npm_lifecycle_event', script)
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const line of ['--help', 'help batch', 'key --help', 'key list --help'])
    expect(help(line).startsWith(`${start} `), line).toBe(true)
})

test('the help of a noun lists its commands with their options, and no other', () => {
  const ofToken = help('token --help')
  expect(ofToken).toContain(
    'node dist/account.mjs token list (--user usr_… | --email ADDRESS)\n  Lists the access tokens',
  )
  expect(ofToken).toContain('token revoke (tok_… | --user usr_… | --email ADDRESS)')
  expect(ofToken).toContain(
    'token create (--user usr_… | --email ADDRESS) --scope SCOPE … [--expires-in P30D] [--name NAME]',
  )
  expect(ofToken).not.toContain('user create')
  expect(help('help token')).toBe(ofToken)
})

test('the help of a command explains every option', () => {
  for (const { name: command, summary, options } of COMMANDS) {
    const shown = help(`${command} --help`)
    expect(shown).toContain(summary)
    for (const [name, { means, value, positional }] of Object.entries(options)) {
      expect(shown).toContain(positional ? value : `--${name}`)
      expect(shown).toContain(means)
    }
  }
  expect(help('user create --email a@b.test --help')).toBe(help('user create --help'))
  expect(help('token create --help')).toContain('One of email:manage, account:manage. It can be repeated.')
})

test('the help of a command has an example that is accepted', () => {
  for (const command of COMMANDS) {
    const example = exampleOf(command)
    expect(help(`${command.name} --help`)).toContain(`Example: ${example}\n`)
    expect(refusal(example.slice(example.indexOf(command.name)))).toBe('accepted')
  }
})

test('a state is given by the word of the pages too', () => {
  for (const state of WITHDRAWAL_STATES) {
    expect(refusal(`withdrawal list --state "${WORDS[state]}"`)).toBe('accepted')
    expect(refusal(`withdrawal list --state ${state}`)).toBe('accepted')
  }
})

test('only what cannot be undone takes --yes', () => {
  const final = COMMANDS.filter(({ asks }) => asks).map(({ name }) => name)
  expect(final.sort()).toEqual([
    'app remove',
    'app rotate-secret',
    'archive accept-loss',
    'blocker end',
    'key rotate',
    'ledger replay',
    'ledger trim',
    'service-token revoke',
    'session end',
    'task waive',
    'token revoke',
    'transaction cancel',
    'transaction settle',
    'user set-email',
    'user set-password',
    'withdrawal start',
  ])
  for (const command of COMMANDS) {
    const line = exampleOf(command).replace(/^.*?account.mjs /, '')
    const refused = `${command.name} has no option --yes. --help lists all of them.`
    expect(refusal(`${line} --yes`)).toBe(command.asks ? 'accepted' : refused)
  }
})

test('what every command takes is explained in the help of all commands, and named in that of each', () => {
  const means = 'Prints tables with every column, into a pipe too.'
  expect(help('--help')).toContain(means)
  expect(help('task list --help')).not.toContain(means)
  expect(help('task list --help')).toContain('It also takes --json, --wide, --only NAME: see --help.')
  expect(help('audit export --help')).not.toContain('It also takes')
})

test('the help of app register says what holds if an option is missing, and what an app set leaves has no such value', () => {
  const shown = help('app register --help')
  for (const value of ['connected', 'at_once', 'PT24H', 'third_party_integrations', 'nothing'])
    expect(shown).toContain(`If it is missing: ${value}.`)
  expect(help('app set --help')).not.toContain('If it is missing')
})

test('the help of an unknown command says which there are', () => {
  expect(() => help('shop --help')).toThrow('--help lists all of them.')
  expect(() => help('session close --help')).toThrow('It has list, end.')
})

test('--only prints one member of an answer as a shell takes it', () => {
  const due_at = new Date('2026-11-23T02:50:00.000Z')
  const answer = { user_id: 'usr_1', count: 0, role: null, due_at, apps: [{ id: 'app_1' }], none: [] }
  for (const [path, text] of [
    ['user_id', 'usr_1'],
    ['count', '0'],
    ['role', ''],
    ['due_at', '2026-11-23T02:50:00.000Z'],
    ['apps.0.id', 'app_1'],
    ['apps', '[{"id":"app_1"}]'],
  ] as const) {
    expect(memberOf(answer, path)).toBe(`${text}\n`)
  }
})

test.each(['usr_id', '', 'toString', 'user_id.x', 'pending.old'])('--only %j names no member', (path) => {
  expect(memberOf({ user_id: 'usr_1', pending: { new: 'a' } }, path)).toBeUndefined()
})

test('a terminal gets aligned lines and a table for a list', () => {
  const answer = {
    user_id: 'usr_1',
    is_cut: false,
    pending_change: { has_pending: false, new_email: null, scopes: [] },
    next: null,
    found: [
      { session_id: 'ses_1', name: 'x\u001b[31m' },
      { session_id: 'ses_22', name: null, scopes: ['a', 'b'] },
    ],
    tokens: [],
  }
  expect(showAnswer(answer, LOOK)).toBe(`Account  usr_1
Tokens   None

Found:
Session ID  Name    Scopes
ses_1       x�[31m  -
ses_22      -       a, b
`)
  expect(showAnswer({ apps: [{ app_id: 'app_1' }], is_cut: true }, LOOK)).toBe(`Apps:
App ID
app_1

There is more than is shown.
`)
})

// Times are shown in the time zone of the terminal.
process.env.TZ = 'UTC'
const LOOK = { now: new Date('2026-11-23T03:08:30.000Z'), width: 100, wide: false }
const WITHDRAWAL = {
  withdrawal_id: 'wd_4Qm9ZsX1cT7uYb2LhKpV0w',
  started_at: new Date('2026-11-23T02:50:00.000Z'),
  due_by: '2026-12-23T02:50:00.000Z',
  purged_at: null,
  deletion_steps: [
    {
      step: 'user_profile',
      status: 'completed',
      estimated_completion: new Date('2026-11-23T03:50:00.000Z'),
      completed_at: new Date('2026-11-23T02:56:00.000Z'),
      due_at: null,
      attempts: 1,
      last_error: null,
      erased: [{ category: 'profile', records: 1 }],
    },
    {
      step: 'third_party_integrations',
      status: 'processing',
      estimated_completion: new Date('2026-11-24T02:50:00.000Z'),
      completed_at: null,
      due_at: new Date('2026-11-23T05:09:00.000Z'),
      attempts: 9,
      last_error: 'connect ECONNREFUSED and more, and more, and more',
      erased: [],
    },
  ],
}

test('a terminal shows times in words, steps as people read them, and tables that fit it', () => {
  expect(showAnswer(WITHDRAWAL, LOOK)).toBe(`Deletion    wd_4Qm9ZsX1cT7uYb2LhKpV0w
Started     23 Nov 02:50 (18 min ago)
Due by law  23 Dec 02:50 (in 30 d)

Deletion steps:
Deletion step             Status       Last result               Next try               Attempts
Profile and sign-in data  Completed    -                         -                      1
Connected apps            In progress  connect ECONNREFUSED and  23 Nov 05:09 (in 2 h)  9
                                       more, and more, and more
`)
})

test.each([120, 80])(
  'a terminal of %i columns has whole times, what fails and whole ids in the line of each row; an id that is too long for it stands below',
  (width) => {
    const id = (prefix: string) => `${prefix}_${'x'.repeat(22)}`
    const task_id = `msg_${id('wd').slice(3)}_${id('app')}`
    const time = new Date('2026-11-22T02:50:00.000Z')
    const words = 'as many words as somebody may want to say'
    const answer = {
      transactions: [
        { user_id: id('usr'), transaction_id: id('txn'), status: 'pending', title: 'Order 1042', created_at: time },
      ],
      deliveries: [
        {
          event_id: id('evt'),
          type: 'account.withdrawal_started',
          app_name: 'Billing',
          status: 'pending',
          due_at: time,
        },
      ],
      tasks: [
        { name: 'Billing', state: 'pending', due_at: time, last_error: 'HTTP 503', task_id, withdrawal_id: id('wd') },
      ],
      withdrawals: [{ due_by: time, problem: 'HTTP 503', waits_for: ['Billing', words], withdrawal_id: id('wd') }],
      sessions: [{ user_agent: words.repeat(3), ip_address: '192.0.2.1', last_seen_at: time, session_id: id('ses') }],
      access_tokens: [
        { name: words, scopes: ['email:manage'], token_id: id('tok'), expires_at: time, last_used_at: time },
      ],
    }
    const lines = showAnswer(answer, { ...LOOK, width }).split('\n')
    for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(width)
    expect(lines.some((line) => line.includes(task_id))).toBe(true)
    expect(lines.includes(`  ${task_id}`)).toBe(width < 120)
    const rows = lines.filter((_, line) => line > 1 && lines[line - 2]?.match(/:($| \()/))
    const firsts = ['txn', 'Billing', 'Billing', 'wd', 'ses', 'tok']
    expect(rows.map((row) => row.split(' ')[0])).toEqual(firsts.map((one) => (one === 'Billing' ? one : id(one))))
    expect(rows[2]).toMatch(/ wd_x{6}/)
    expect(rows.filter((row) => row.includes('HTTP 503'))).toHaveLength(2)
    for (const row of rows) expect(row.replaceAll('22 Nov 02:50 (1 d ago)', '')).not.toMatch(/22 Nov|d ago/)
  },
)

test('a task of a disabled application is disabled, unless it has ended', () => {
  const [held, waived] = [
    { name: 'Billing', state: 'pending', is_app_disabled: true },
    { name: 'Shop', state: 'waived', is_app_disabled: true },
  ]
  expect(showAnswer({ tasks: [held, waived] }, LOOK)).toMatch(/Billing {2}App is disabled\nShop {5}Stopped waiting/)
})

test('an act on the pages is of the operator who did it, and one of a service of this service', () => {
  const at = '2026-11-23T02:50:00.000Z'
  const audit = [
    { at, action: 'sign_in', actor: 'operator', operator_id: 'usr_4Qm9ZsX1cT7uYb2LhKpV0w' },
    { at, action: 'sign_in', actor: 'operator', operator_id: 'usr_1', operator_email: 'olga@example.com' },
    { at, action: 'sign_in', actor: 'operator', operator_id: null },
    { at, action: 'sign_in', actor: 'service', service_name: 'crm' },
  ]
  const rows = showAnswer({ audit }, LOOK).split('\n').slice(2, 6)
  const who = rows.map((row) => row.replace(/.*Signed in {2}/, ''))
  expect(who).toEqual(['usr_4Qm9ZsX1cT7uYb2LhKpV0w', 'olga@example.com', 'The operator command', 'Service crm'])
  const changed = { at, action: 'role.changed', actor: 'operator' }
  const roles = [{ ...changed, subject_id: 'none' }, changed]
  expect(showAnswer({ audit: roles }, LOOK)).toMatch(/ Role changed to none .*\n.* Role changed {2}/)
})

test.each([50, 60, 80])('a terminal of %i columns shows whole who acted', (width) => {
  const at = '2026-11-23T02:50:00.000Z'
  const who = ['usr_4Qm9ZsX1cT7uYb2LhKpV0w', 'olga.of.the.second.shift@support.example.com']
  const subject_id = 'wd_4Qm9ZsX1cT7uYb2LhKpV0w'
  const audit = who.map((operator_email) => {
    const operator = { operator_id: who[0], operator_email: operator_email === who[0] ? null : operator_email }
    return { at, action: 'withdrawal.retried', actor: 'operator', subject_id, ...operator }
  })
  const shown = showAnswer({ audit }, { ...LOOK, width })
  for (const one of who) expect(shown).toContain(one)
  for (const line of shown.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(width)
})

test('a refusal on a terminal is wrapped at its width, a command in it and what a pipe gets are not', () => {
  const command = '  blocker end --user usr_4Qm9ZsX1cT7uYb2LhKpV0w --source shop2 --key order-9'
  const text = `${WORDS_OF_TEXT}. ${WORDS_OF_TEXT}.\n${command}`
  const lines = wrapRefusal(text, { isTTY: true, columns: 40 }).split('\n')
  expect(lines.at(-1)).toBe(command)
  expect(lines.slice(0, -1).join(' ')).toBe(`${WORDS_OF_TEXT}. ${WORDS_OF_TEXT}.`)
  expect(lines.slice(0, -1).map(({ length }) => length <= 40)).toEqual([true, true, true, true])
  expect(wrapRefusal(text, { isTTY: false, columns: 40 })).toBe(text)
})

test('a URL leaves a list where a text beside it needs many lines', () => {
  const app = { name: 'Warehouse', open_tasks: 1, app_id: 'app_4Qm9ZsX1cT7uYb2LhKpV0w' }
  const endpoint = 'https://warehouse.example.com/webhooks/accounts'
  const failing = 'connection refused by the warehouse of returned goods, late, past due'
  const shown = showAnswer({ apps: [{ ...app, failing, endpoint }] }, { ...LOOK, width: 80 })
  expect(shown).toMatch(/^Apps: \(--wide shows more columns\)\n/)
  expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(4)
  expect(showAnswer({ apps: [{ ...app, failing: 'HTTP 503', endpoint }] }, { ...LOOK, width: 80 })).toContain(
    'https://',
  )
})

test('a narrow terminal keeps every number, and a column of zeros leaves before a cause is cut', () => {
  const counts = [{ count: '12', means: 'Jobs waiting for Inngest, the optional engine' }]
  expect(showAnswer({ counts }, { ...LOOK, width: 40 })).toContain('\n12      Jobs waiting for')
  const app = {
    name: 'Shop',
    problem: 'the certificate of the endpoint has expired',
    waiting_events: 0,
    dead_events: 0,
  }
  expect(showAnswer({ failing_apps: [app] }, { ...LOOK, width: 60 })).toContain(app.problem)
})

test('a task that its app fetches is never tried', () => {
  const due_at = '2026-11-24T02:50:00.000Z'
  const task = { name: 'Shop', state: 'pending', is_app_disabled: false, polls: true, due_at }
  expect(showAnswer({ tasks: [task] }, LOOK)).not.toContain('24 Nov')
  expect(showAnswer({ tasks: [{ ...task, polls: false }] }, LOOK)).toContain('24 Nov')
})

const WORDS_OF_TEXT = 'connection refused by the warehouse of returned and refurbished goods'

test.each([60, 80, 120])('a terminal of %i columns breaks no word of a text, nor an id of a fact', (width) => {
  const [app_id, user_id] = ['app_4Qm9ZsX1cT7uYb2LhKpV0w', 'usr_4Qm9ZsX1cT7uYb2LhKpV0w']
  const answer = {
    app_id,
    confirms: true,
    failing_apps: [{ name: WORDS_OF_TEXT, problem: WORDS_OF_TEXT, held_up: 1, app_id: user_id }],
  }
  const shown = showAnswer(answer, { ...LOOK, width })
  for (const line of shown.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(width)
  for (const word of WORDS_OF_TEXT.split(' ')) expect(shown.match(new RegExp(`\\b${word}\\b`, 'g'))).toHaveLength(2)
  expect(shown).toMatch(new RegExp(`App ID  +${app_id}\n`))
})

test.each([60, 80])('the help keeps each option with its value in a line of %i columns', (columns) => {
  const { columns: before } = process.stdout
  Object.assign(process.stdout, { columns })
  onTestFinished(() => void Object.assign(process.stdout, { columns: before }))
  for (const { name } of COMMANDS) {
    const [usage = ''] = help(`${name} --help`).split('\n\n')
    for (const line of usage.split('\n')) {
      expect([...line].length, line).toBeLessThanOrEqual(columns)
      expect(line).not.toMatch(/--\S+$(?<![\])|]|-stdin|-tokens|--all)/)
    }
  }
})

test('a wider terminal shows every column of a narrower one', () => {
  const task_id = `msg_${'x'.repeat(22)}_app_${'x'.repeat(22)}`
  const due_at = new Date('2026-11-23T05:09:00.000Z')
  const task = {
    name: 'Billing',
    state: 'pending',
    last_error: 'HTTP 503',
    withdrawal_id: `wd_${'x'.repeat(22)}`,
    task_id,
  }
  const tasks = [{ ...task, due_at, attempts: 36 }]
  const headings = (width: number) =>
    showAnswer({ tasks }, { ...LOOK, width })
      .split('\n')[1]
      ?.split(/ {2,}/) ?? []
  for (let width = 80; width < 180; width++)
    expect([width, headings(width + 1)]).toEqual([width, expect.arrayContaining(headings(width))])
  expect(headings(180)).toHaveLength(7)
})

test('an id that is cut keeps what finds it', () => {
  const apps = [{ name: 'x'.repeat(30), open_tasks: 1, failing: 'y'.repeat(40), app_id: 'app_4Qm9ZsX1cT7uYb2LhKpV0w' }]
  expect(showAnswer({ apps }, { ...LOOK, width: 55 })).toMatch(/ app_4Qm9Zs…/)
})

test('no problem has no line', () => {
  expect(showAnswer({ status: 204, problem: null }, LOOK)).toBe('Status  204\n')
})

test('advice stands below its row', () => {
  const calls = [
    { result: 'FAIL', call: 'a GET', mend: 'Take POST only.' },
    { result: 'ok', call: 'no body' },
  ]
  expect(showAnswer({ calls }, LOOK)).toBe(`Calls:
Result  Call
FAIL    a GET
  Mend: Take POST only.
ok      no body
`)
})

test('an id that every row has in common with the answer is a column only with --wide', () => {
  const row = { task_id: 'msg_1', withdrawal_id: 'wd_1', app_id: 'app_1', status: 'completed' }
  const answer = {
    withdrawal_id: 'wd_1',
    app_id: 'app_1',
    status: 'completed',
    done: [row, { ...row, app_id: 'app_2' }],
  }
  expect(showAnswer(answer, LOOK).split('\n').slice(4)).toEqual([
    'Done:',
    'Task ID  App ID  Status',
    'msg_1    app_1   Completed',
    'msg_1    app_2   Completed',
    '',
  ])
  expect(showAnswer(answer, { ...LOOK, wide: true })).toContain('Task ID  Deletion  App ID  Status')
})

test('a terminal shows the columns of a list as far as a line has room, and an amount as people write it', () => {
  const transactions = [
    {
      transaction_id: 'txn_1',
      title: 'Order 7',
      amount: { minor_units: 1250, currency: 'EUR' },
      url: `https://shop.example.com/${'x'.repeat(60)}`,
      created_at: new Date('2026-11-23T02:50:00.000Z'),
      note: null,
    },
  ]
  expect(showAnswer({ transactions }, { ...LOOK, width: 58 })).toBe(`Transactions: (--wide shows more columns)
Transaction ID  Title    Amount  Created
txn_1           Order 7  €12.50  23 Nov 02:50 (18 min ago)
`)
  const wide = showAnswer({ transactions }, { ...LOOK, width: 500 })
  expect(wide).toContain('https://shop.example.com/')
  expect(wide).not.toContain('--wide')
})

test('with --wide a terminal shows every column, however wide the table gets', () => {
  const shown = showAnswer(WITHDRAWAL, { ...LOOK, wide: true })
  expect(shown).toMatch(/ Profile: 1$/m)
  const { deletion_steps } = WITHDRAWAL
  const withdrawals = [{ withdrawal_id: 'wd_1', deletion_steps, waived_tasks: 0 }]
  expect(showAnswer({ withdrawals }, { ...LOOK, wide: true })).toMatch(
    / Waits for +Apps not waited for\n.+ Profile and sign-in data, Connected apps +0\n$/,
  )
  expect(shown).toContain('and more, and more')
  expect(shown).not.toContain('--wide')
})
