import { type Contract, isAdminContract, isLinkContract, isTaskContract } from '@/contract/define'
import type { OperationName } from '@/contract/operations'

export const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const
export type Language = keyof typeof LANGUAGES

/** What the examples read from the environment, and where it comes from. */
export const VARIABLES = {
  BASE: 'The origin of this service',
  USER_ID: 'The account, `usr_…`, or `~` and the percent-encoded external id',
  TOKEN: 'An access token, `uat_…`, that holds the scope',
  STATUS_TOKEN: '`status_token` in the answer of Withdraw Account; it works when every other token has ended',
  SERVICE_TOKEN: 'A service token, `svc_…`, that holds the scope; the operator creates it',
  LINK_TOKEN: 'The token after `#` in the link of the mail',
  REPORT_TOKEN: '`report_token` of the task, `dtk_…`',
  CHANGE_REQUEST_ID: '`change_request_id` in the answer of Change Email Address',
  WITHDRAWAL_ID: '`withdrawal_id` in the answer of Withdraw Account',
  SESSION_ID: '`session` after `#` in the link of the mail, `ses_…`',
  EXTERNAL_ID: 'Your own id of the person; in curl percent-encoded',
  BLOCKER_KEY: 'Your own name of the blocker, such as `invoice-4711`',
  APP_ID: 'The application, `app_…`',
  TASK_ID: '`id` of the task, `msg_…`',
  TRANSACTION_ID: 'The transaction, `txn_…`',
  AUTHENTICATED_AT: 'When the person last proved to you who they are, such as `2026-11-20T08:58:00Z`',
  ORIGIN: 'The origin of your page, one of `ALLOWED_ORIGINS`',
  EMAIL: 'The address of the account',
  NEW_EMAIL: 'The address to change to',
  PASSWORD: 'The current password',
  NEW_PASSWORD: 'The password from now on',
  CODE: 'The six digits in the mail to the new address',
  KEY: 'Any text of yours, such as a UUID; it stays the same until the answer of this call has arrived',
} as const
export type Variable = keyof typeof VARIABLES

const OF_PATH: Record<string, Variable> = {
  userId: 'USER_ID',
  externalId: 'EXTERNAL_ID',
  key: 'BLOCKER_KEY',
  changeRequestId: 'CHANGE_REQUEST_ID',
  withdrawalId: 'WITHDRAWAL_ID',
  sessionId: 'SESSION_ID',
  appId: 'APP_ID',
  taskId: 'TASK_ID',
  transactionId: 'TRANSACTION_ID',
}
const OF_FIELD: Record<string, Variable> = {
  app: 'APP_ID',
  authenticated_at: 'AUTHENTICATED_AT',
  change_request_id: 'CHANGE_REQUEST_ID',
  key: 'BLOCKER_KEY',
  current_password: 'PASSWORD',
  email: 'EMAIL',
  new_email: 'NEW_EMAIL',
  new_password: 'NEW_PASSWORD',
  origin: 'ORIGIN',
  text: 'EMAIL',
  user_id: 'USER_ID',
  verification_code: 'CODE',
}

/** Whether no program can make the call, because only a browser session holds the scope or only a browser can continue. */
export const isForBrowsers = ({ scope, name }: Contract) =>
  scope === 'tokens:manage' || name === 'startReauthentication'

export const hasExample = (contract: Contract) => !contract.rawBody && !isForBrowsers(contract)

/** What they do cannot be taken back, and only their answer holds its token or secret: with a key a lost answer comes again. */
const WITH_KEY: readonly string[] = [
  'withdrawAccount',
  'withdrawUser',
  'confirmRequestedWithdrawal',
  'rotateAppSecret',
] satisfies OperationName[]

/** The variables of its headers. */
const headersOf = (contract: Contract): { bearer?: Variable | undefined; key?: Variable } => ({
  bearer: bearerOf(contract),
  ...(WITH_KEY.includes(contract.name) && { key: 'KEY' }),
})

function bearerOf(contract: Contract): Variable | undefined {
  if (isTaskContract(contract)) return 'REPORT_TOKEN'
  if (isAdminContract(contract)) return 'SERVICE_TOKEN'
  if (isLinkContract(contract)) return contract.bearer === 'none' ? undefined : 'LINK_TOKEN'
  return contract.path.includes('{withdrawalId}') ? 'STATUS_TOKEN' : 'TOKEN'
}

const placeholdersOf = ({ path }: Contract) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
const variableOf = (placeholder: string) => OF_PATH[placeholder] as Variable

/** The variables that the examples of an operation read. */
export function variablesOf(contract: Contract): Variable[] {
  const { bearer, key } = headersOf(contract)
  const { body = {}, query = {} } = contract.example
  const fields = Object.keys({ ...query, ...body }).flatMap((name) => OF_FIELD[name] ?? [])
  const headers = [bearer, key].filter((variable) => variable !== undefined)
  return [...new Set([...placeholdersOf(contract).map(variableOf), ...headers, ...fields])]
}

export const sampleOf = (contract: Contract, language: Language): string => SAMPLES[language](contract)

const SAMPLES: Record<Language, (contract: Contract) => string> = {
  curl: (contract) => curl(contract),
  typescript,
  python,
}

/** What a person types may hold a quote. */
const ESCAPED: readonly Variable[] = ['PASSWORD', 'NEW_PASSWORD']
const ESCAPE = `json() { printf %s "$1" | sed 's/["\\\\]/\\\\&/g'; }`

export function curl(contract: Contract, repeatedWith?: Variable): string {
  const { method, scope, example, file } = contract
  const { bearer, key = repeatedWith } = headersOf(contract)
  const url = `"$BASE/api/v1${contract.path.replace(/\{(\w+)\}/g, (_, name: string) => `$${variableOf(name)}`)}"`
  const query = Object.entries(example.query ?? {}).map(
    ([name, value]) => `--data-urlencode "${name}=${OF_FIELD[name] ? `$${OF_FIELD[name]}` : value}"`,
  )
  const lines = [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`}${query.length > 0 ? ' -G' : ''}${file ? ' -o export.zip' : ''} ${url}`,
    ...(bearer ? [`-H "Authorization: Bearer $${bearer}"`] : []),
    ...(scope ? [`-H "X-Required-Scope: ${scope}"`] : []),
    ...(key ? [`-H "Idempotency-Key: $${key}"`] : []),
    ...query,
    ...(example.body ? ['-H "Content-Type: application/json"', '-d @- <<JSON'] : []),
  ]
  const call = lines.join(' \\\n  ')
  if (!example.body) return call
  const before = variablesOf(contract).some((variable) => ESCAPED.includes(variable)) ? `${ESCAPE}\n` : ''
  return `${before}${call}\n${print(example.body, JSON_IN_SHELL)}\nJSON`
}

function typescript(contract: Contract): string {
  const { name, example } = contract
  const { bearer, key } = headersOf(contract)
  const names = [...new Set<Variable>(['BASE', ...variablesOf(contract)])]
  const environment = `const { ${names.map((variable) => `${variable} = ''`).join(', ')} } = process.env`
  const body = example.body ? print(example.body, TYPESCRIPT) : undefined
  const imports = (...what: string[]) => `import { ${what.sort().join(', ')} } from 'user-account-service/client'`
  if (isTaskContract(contract)) {
    const task = "{ report_to: BASE + '/api/v1/tasks/' + TASK_ID, report_token: REPORT_TOKEN }"
    return [imports('ApiError', 'reportTask'), '', environment, ...caught(`await reportTask(${task}, ${body})`)].join(
      '\n',
    )
  }
  const place = print(
    {
      ...Object.fromEntries(placeholdersOf(contract).map((placeholder) => [placeholder, ''])),
      ...example.query,
    },
    { ...TYPESCRIPT, variable: (field) => OF_PATH[field] ?? OF_FIELD[field], isOneLine: true },
  )
  const client = isAdminContract(contract)
    ? 'createServiceClient({ baseUrl: BASE, serviceToken: SERVICE_TOKEN })'
    : `createClient({ baseUrl: BASE, accessToken: () => ${bearer ?? "''"} })`
  const options = key ? [body ?? 'undefined', `{ idempotencyKey: ${key} }`] : body ? [body] : []
  const call = `await call(${[name, place, ...options].join(', ')})`
  return [
    ...(contract.file ? ["import { writeFile } from 'node:fs/promises'"] : []),
    imports('ApiError', isAdminContract(contract) ? 'createServiceClient' : 'createClient', name),
    '',
    environment,
    `const call = ${client}`,
    ...caught(
      ...(contract.file
        ? [`const file = ${call}`, "await writeFile('export.zip', Buffer.from(await file.arrayBuffer()))"]
        : [`console.log(${call})`]),
    ),
  ].join('\n')
}

const caught = (...lines: string[]) => [
  'try {',
  ...lines.map((line) => `  ${indent(line, 2)}`),
  '} catch (refusal) {',
  '  if (!(refusal instanceof ApiError)) throw refusal',
  "  console.error(refusal.code, refusal.details, refusal.retryAfterSeconds ?? '')",
  '  process.exitCode = 1',
  '}',
]

function python(contract: Contract): string {
  const { method, scope, example, path, file } = contract
  const { bearer, key } = headersOf(contract)
  const isQuoted = path.includes('{externalId}')
  const variable = (name: Variable) => `{env['${name}']}`
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'externalId' ? "{quote(env['EXTERNAL_ID'], safe='')}" : variable(variableOf(name)),
  )
  const query = example.query && print(example.query, { ...PYTHON, isOneLine: true })
  const headers = [
    ...(bearer ? [`"Authorization": f"Bearer ${variable(bearer)}"`] : []),
    ...(scope ? [`"X-Required-Scope": "${scope}"`] : []),
    ...(key ? [`"Idempotency-Key": ${PYTHON.reference(key)}`] : []),
    ...(example.body ? ['"Content-Type": "application/json"'] : []),
  ]
  const parse = [...(isQuoted ? ['quote'] : []), ...(query ? ['urlencode'] : [])]
  return [
    'import json',
    'from os import environ as env',
    'from urllib.error import HTTPError',
    ...(parse.length > 0 ? [`from urllib.parse import ${parse.join(', ')}`] : []),
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    `    f"{env['BASE']}/api/v1${place}"${query ? ` + "?" + urlencode(${query})` : ''},`,
    `    method="${method}",`,
    '    headers={',
    ...headers.map((line) => `        ${line},`),
    '    },',
    ...(example.body ? [`    data=json.dumps(${indent(print(example.body, PYTHON), 4)}).encode(),`] : []),
    ')',
    'try:',
    '    with urlopen(request) as answer:',
    file ? '        open("export.zip", "wb").write(answer.read())' : '        print(json.load(answer))',
    'except HTTPError as refusal:',
    '    error = json.load(refusal)["error"]',
    `    raise SystemExit(f"{error['code']}: {error['details']}")`,
  ].join('\n')
}

interface Notation {
  key(name: string): string
  text(value: string): string
  constant(value: unknown): string
  variable(field: string): Variable | undefined
  reference(variable: Variable): string
  tab: string
  isTrailing: boolean
  isOneLine?: boolean
}

const shared = {
  text: (value: string) => JSON.stringify(value),
  constant: String,
  variable: (field: string) => OF_FIELD[field],
}
const JSON_IN_SHELL: Notation = {
  ...shared,
  key: (name) => `"${name}"`,
  reference: (variable) => (ESCAPED.includes(variable) ? `"$(json "$${variable}")"` : `"$${variable}"`),
  tab: '  ',
  isTrailing: false,
}
const TYPESCRIPT: Notation = {
  ...shared,
  key: (name) => name,
  text: (value) => `'${value.replaceAll("'", "\\'")}'`,
  reference: (variable) => variable,
  tab: '  ',
  isTrailing: true,
}
const PYTHON: Notation = {
  ...shared,
  key: (name) => `"${name}"`,
  constant: (value) => ({ true: 'True', false: 'False', null: 'None' })[String(value)] ?? String(value),
  reference: (variable) => `env["${variable}"]`,
  tab: '    ',
  isTrailing: true,
}

/** A value of an example in the notation of a language, with variables where the reader's own values belong. */
function print(value: unknown, notation: Notation, field = ''): string {
  const variable = notation.variable(field)
  if (typeof value === 'string') return variable ? notation.reference(variable) : notation.text(value)
  if (Array.isArray(value)) return `[${value.map((item) => print(item, notation)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return notation.constant(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${notation.key(name)}: ${print(member, notation, name)}`,
  )
  if (members.length === 0) return '{}'
  if (notation.isOneLine) return `{ ${members.join(', ')} }`
  const lines = members.map((member) => `${notation.tab}${indent(member, notation.tab.length)}`)
  return `{\n${lines.join(',\n')}${notation.isTrailing ? ',' : ''}\n}`
}

const indent = (text: string, by: number) => text.replaceAll('\n', `\n${' '.repeat(by)}`)
