import { type Contract, isAdminContract } from '@/contract/define'

const READ_CHANGE_REQUEST_ID = [
  '# the id of the change that is pending now',
  'CHANGE_REQUEST_ID=$(curl -sS "$BASE/api/v1/users/$USER_ID/email/status" \\',
  '  -H "Authorization: Bearer $TOKEN" -H "X-Required-Scope: email:manage" |',
  `  sed -n 's/.*"change_request_id":"\\([^"]*\\)".*/\\1/p')`,
  '',
]

const names: Record<string, string> = {
  userId: 'USER_ID',
  externalId: 'EXTERNAL_ID',
  changeRequestId: 'CHANGE_REQUEST_ID',
  withdrawalId: 'WITHDRAWAL_ID',
}

/** A call that works as pasted when BASE and the ids and tokens of the settings are set. */
export function curlExample(contract: Contract): string {
  const { method, path, query, scope, example } = contract
  const url = `$BASE/api/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${names[name] ?? name}`)}`
  const lines = [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} "${url}${query ? exampleQuery(example.data, Object.keys(query.shape)) : ''}"`,
    `-H "Authorization: Bearer ${isAdminContract(contract) ? '$SERVICE_TOKEN' : '$TOKEN'}"`,
    `-H "X-Required-Scope: ${scope}"`,
  ]
  if (example.body) lines.push('-H "Content-Type: application/json"', `-d ${shellBody(example.body)}`)
  const call = lines.join(' \\\n  ')
  if (call.includes('$WITHDRAWAL_ID')) return `# WITHDRAWAL_ID: from the answer of Withdraw Account\n${call}`
  return call.includes('$CHANGE_REQUEST_ID') ? [...READ_CHANGE_REQUEST_ID, call].join('\n') : call
}

const exampleQuery = (data: Record<string, unknown>, names: string[]) =>
  `?${new URLSearchParams(names.map((name) => [name, String(data[name])]))}`

function shellBody(body: Record<string, unknown>): string {
  const json = JSON.stringify(body).replaceAll("'", `'\\''`)
  return `'${json.replace(/("change_request_id":")[^"]*/, `$1'"$CHANGE_REQUEST_ID"'`)}'`
}
