import { setTimeout as sleep } from 'node:timers/promises'

const AWAY_SQLSTATES = /^(08|28|3D|53|57P|57014|25006|25P03|55P03)/
const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'P1001',
  'P1002',
  'P1008',
  'P1011',
  'P1017',
  'P2024',
])
const AWAY_MESSAGE =
  /timeout exceeded when trying to connect|timeout expired|Connection terminated|connection error|Query read timeout|after calling end/

/** What an operator does about a connection that fails over TLS, by the code of the error or by its message. */
const TLS_ADVICE: [found: RegExp, advice: string][] = [
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE|INVALID_CA/,
    'No authority that is known here signed its certificate. Name the file with the certificate of your authority by sslrootcert=… in DATABASE_URL, or encrypt without making sure of the server by sslmode=no-verify.',
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    'Its certificate is for another name. Use a name of the certificate in DATABASE_URL, or compare only the authority by sslmode=verify-ca with sslrootcert.',
  ],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/, 'Renew its certificate, or correct the clock of this machine.'],
  [
    /The server does not support SSL connections/,
    'It has no TLS. Switch TLS on there, or set sslmode=disable in DATABASE_URL where nobody else reaches the network between.',
  ],
  [/, no encryption$/, 'It refuses connections in the clear. Set sslmode=verify-full in DATABASE_URL.'],
  [
    /certificate required|requires a valid client certificate|ERR_SSL_TLSV1_ALERT_UNKNOWN_CA/i,
    'It wants another certificate of the client. Name one that it knows by sslcert and sslkey in DATABASE_URL.',
  ],
]

const MAX_TRIES = 5
const PAUSE_MS = 200

/** Retries while the database is away. Used at the start, when a busy machine may accept connections later than the connect timeout. */
export async function onceDatabaseAnswers<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (tries === MAX_TRIES || !isDatabaseAway(error)) throw error
    }
    await sleep(PAUSE_MS)
  }
}

/** Whether an error means that the database is away or overloaded, and not that the statement is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError && error.errors.some(isDatabaseAway)) return true
  const code = 'code' in error ? String(error.code) : ''
  return (
    AWAY_SQLSTATES.test(code) ||
    AWAY_CODES.has(code) ||
    AWAY_MESSAGE.test(error.message) ||
    // The server refuses or ends the whole connection, so no statement is wrong.
    ('severity' in error && error.severity === 'FATAL') ||
    tlsAdvice(error) !== undefined
  )
}

/** Undefined for an error that has another reason than TLS. */
export const tlsAdvice = (error: Error): string | undefined =>
  TLS_ADVICE.find(([found]) => found.test('code' in error ? String(error.code) : '') || found.test(error.message))?.[1]

/** Whether the database rolled back because of another transaction: a deadlock or a conflict. The same work may succeed at once. */
export const isContended = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '40P01' || error.code === '40001')

/** The log's event for an error that nobody threw on purpose. All but `unexpected_error` pass, so the caller may try again. */
export function logEventOf(error: unknown): 'database_away' | 'database_contended' | 'unexpected_error' {
  if (isContended(error)) return 'database_contended'
  return isDatabaseAway(error) ? 'database_away' : 'unexpected_error'
}
