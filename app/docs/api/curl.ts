import type { Contract } from '@/contract/define'

const READ_CHANGE_REQUEST_ID = [
  '# the id of the change that is pending now',
  'CHANGE_REQUEST_ID=$(curl -sS "$BASE/api/v1/users/$USER_ID/email/status" \\',
  '  -H "Authorization: Bearer $TOKEN" -H "X-Required-Scope: email:manage" |',
  `  sed -n 's/.*"change_request_id":"\\([^"]*\\)".*/\\1/p')`,
  '',
]

const names: Record<string, string> = {
  userId: 'USER_ID',
  changeRequestId: 'CHANGE_REQUEST_ID',
  withdrawalId: 'WITHDRAWAL_ID',
}

/** A call that works as pasted when BASE, TOKEN and USER_ID are set. */
export function curlExample({ method, path, scope, example }: Contract): string {
  const url = `$BASE/api/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${names[name] ?? name}`)}`
  const lines = [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} "${url}"`,
    '-H "Authorization: Bearer $TOKEN"',
    `-H "X-Required-Scope: ${scope}"`,
  ]
  if (example.body) lines.push('-H "Content-Type: application/json"', `-d ${shellBody(example.body)}`)
  const call = lines.join(' \\\n  ')
  if (call.includes('$WITHDRAWAL_ID')) return `# WITHDRAWAL_ID: from the answer of Withdraw Account\n${call}`
  return call.includes('$CHANGE_REQUEST_ID') ? [...READ_CHANGE_REQUEST_ID, call].join('\n') : call
}

function shellBody(body: Record<string, unknown>): string {
  const json = JSON.stringify(body).replaceAll("'", `'\\''`)
  return `'${json.replace(/("change_request_id":")[^"]*/, `$1'"$CHANGE_REQUEST_ID"'`)}'`
}
