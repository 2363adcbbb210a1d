import { signedLedgerHead } from '@/domain/withdrawal/ledger/erasure-ledger'
import { publishedKeys } from '@/domain/withdrawal/receipts/signing-keys'
import { getEnv } from '../settings/env'
import { systemContext } from '../system-context'

const SECURITY_CONTACT_DAYS = 180

// Pages of other origins may read it, because anybody may verify what the service has signed.
const published = (body: string, type: string, seconds: number): Response =>
  new Response(body, {
    headers: {
      'Content-Type': type,
      'Cache-Control': `public, max-age=${seconds}`,
      'Access-Control-Allow-Origin': '*',
      'X-Content-Type-Options': 'nosniff',
    },
  })

/** The keys that receipts and the head of the erasure ledger are verified with. */
export const jwks = async (): Promise<Response> =>
  published(JSON.stringify(await publishedKeys(systemContext())), 'application/jwk-set+json', 3600)

export const erasureLog = async (): Promise<Response> =>
  published(await signedLedgerHead(systemContext()), 'application/jose', 60)

/** Whom to tell about a fault of security (RFC 9116). A reader may rely on it until `Expires`. */
export const securityTxt = async (): Promise<Response> => {
  const { appUrl, securityContact } = getEnv()
  const expires = new Date(systemContext().clock.now().getTime() + SECURITY_CONTACT_DAYS * 24 * 60 * 60 * 1000)
  const lines = [
    `Contact: ${securityContact}`,
    `Expires: ${expires.toISOString()}`,
    `Canonical: ${appUrl}/.well-known/security.txt`,
    'Preferred-Languages: en',
  ]
  return published(`${lines.join('\n')}\n`, 'text/plain; charset=utf-8', 3600)
}

/** Where password managers find the page for a new password (https://w3c.github.io/webappsec-change-password-url/). */
export const changePasswordPage = async (): Promise<Response> =>
  new Response(null, { status: 302, headers: { Location: `${getEnv().appUrl}/settings/password` } })
