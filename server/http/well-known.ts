import { signedLedgerHead } from '@/domain/withdrawal/ledger/erasure-ledger'
import { publishedKeys } from '@/domain/withdrawal/receipts/signing-keys'
import { systemContext } from '../system-context'

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

/** The signed head of the erasure ledger. */
export const erasureLog = async (): Promise<Response> =>
  published(await signedLedgerHead(systemContext()), 'application/jose', 60)
