import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { url } from './setting-fields'

/** The words of libpq, as pg takes them. */
const MODES: Record<string, Record<string, string>> = {
  disable: { sslmode: 'disable' },
  'no-verify': { sslmode: 'no-verify' },
  // pg verifies for both, and warns of the first.
  require: { sslmode: 'verify-full' },
  'verify-full': { sslmode: 'verify-full' },
  // Only in this way pg does not compare the name.
  'verify-ca': { sslmode: 'verify-ca', uselibpqcompat: 'true' },
}
const FILES = ['sslrootcert', 'sslcert', 'sslkey']
const ALLOWED = ['application_name', 'host', 'options', 'password', 'port', 'sslmode', 'user', ...FILES]

/** What to do in place of parameters that other programs take. */
const ADVICE = new Map(
  Object.entries({
    channel_binding: 'sslmode=verify-full makes sure of the server',
    connection_limit: 'set DATABASE_CONNECTIONS',
    schema: 'the tables stand in the schema public, so give the service a database of its own',
    ssl: 'use sslmode',
    sslaccept: 'use sslmode=verify-full, or sslmode=no-verify',
    sslidentity: 'use sslcert and sslkey',
    uselibpqcompat: 'use sslmode',
  }),
)

/**
 * A parameter that would have no effect is refused, so that nobody relies on it. The result has the parameters as pg takes them:
 * `require` checks the certificate like `verify-full`.
 */
export const databaseUrl = url(['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/accounts').transform(
  (text, ctx) => {
    const given = new URL(text).searchParams
    if (given.get('schema') === 'public') given.delete('schema')
    if (given.get('sslrootcert') === 'system') given.delete('sslrootcert')
    for (const problem of [...parameterProblems(given), ...tlsProblems(given)]) ctx.addIssue(problem)
    for (const [name, value] of Object.entries(MODES[given.get('sslmode') ?? ''] ?? {})) given.set(name, value)
    const [place = ''] = text.split(/[?#]/)
    return given.size > 0 ? `${place}?${given}` : place
  },
)

const parameterProblems = (given: URLSearchParams): string[] =>
  [...new Set(given.keys())]
    .filter((name) => !ALLOWED.includes(name))
    .map((name) =>
      // What follows a question mark may be the rest of a password.
      /^[a-z_]{2,30}$/i.test(name)
        ? `must not have the parameter ${name}: ${ADVICE.get(name) ?? 'it has no effect here, so remove it'}`
        : 'has a parameter without a name; write a question mark in a user or a password as %3F',
    )

function tlsProblems(given: URLSearchParams): string[] {
  const mode = given.get('sslmode') ?? 'disable'
  const [root, cert, key] = FILES.map((name) => readContent(name, given.get(name)))
  const problems: [isThere: unknown, problem: string][] = [
    [
      mode === 'prefer' || mode === 'allow',
      `must not have sslmode=${mode}, which goes on without TLS where the server has none; use require, or disable`,
    ],
    [
      !['prefer', 'allow', ...Object.keys(MODES)].includes(mode),
      `has an unknown sslmode; use one of ${Object.keys(MODES).join(', ')}`,
    ],
    [mode === 'disable' && (root || cert || key), 'names certificates and no TLS; add sslmode=verify-full'],
    [
      mode === 'verify-ca' && !root,
      'needs sslrootcert beside sslmode=verify-ca, because public authorities certify anybody',
    ],
    [
      mode === 'no-verify' && root,
      'has an authority in sslrootcert that sslmode=no-verify does not ask; use verify-full, or verify-ca',
    ],
    [
      Boolean(cert) !== Boolean(key),
      'must have sslcert and sslkey together: they are the certificate and the key of the client. The authority of the server is sslrootcert',
    ],
    [
      cert?.certificate && key?.key && !cert.certificate.checkPrivateKey(key.key),
      'has an sslkey that is not the key of sslcert',
    ],
  ]
  const unread = [root, cert, key].flatMap((content) => content?.problem ?? [])
  return [...problems.filter(([isThere]) => isThere).map(([, problem]) => problem), ...unread]
}

/** pg reads the files at each connection, so that a renewed one needs no restart. Here only what it would stumble over is told. */
function readContent(name: string, file: string | null) {
  if (file === null) return undefined
  try {
    const content = readFileSync(file)
    return name === 'sslkey' ? { key: createPrivateKey(content) } : { certificate: new X509Certificate(content) }
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException
    const what = name === 'sslkey' ? 'key without a passphrase' : 'certificate'
    return { problem: `names in ${name} ${syscall ? `no file that can be read: ${message}` : `no ${what} in PEM`}` }
  }
}
