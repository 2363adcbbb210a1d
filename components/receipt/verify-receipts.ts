import type { ReceiptClaims } from '@/contract/receipt'

export interface ReceiptKey {
  kid: string
  x: string
}

/** Accepts the words and members that a newer release may add. */
export type ReadClaims = Partial<ReceiptClaims>

export type Finding =
  | { state: 'genuine'; claims: ReadClaims; kid: string; hash: string; follows: 'first' | 'shown' | 'not_shown' }
  /** Nobody can tell here whether it is genuine: another service signed it, or this one with a key that the page does not have. */
  | { state: 'unknown_key'; kid: string }
  | { state: 'changed' }
  | { state: 'no_receipt' }
  /** The browser does not support Ed25519. */
  | { state: 'cannot_verify' }

/** Mail and chat wrap long texts, so that white space may stand anywhere. A signature has 86 characters. */
const RECEIPT = /(eyJ(?:\s*[\w-])*\s*\.(?:\s*[\w-])+\s*\.(?:\s*[\w-]){86}(?![\w-]|\.[\w-]))/
/** A file of receipts is shorter. The time of the expression grows with the square of the length. */
const MAX_LENGTH = 50_000

/** Verifies the receipts in what somebody pasted, with nothing but the keys that came with the page. Words around them do no harm. */
export async function verifyReceipts(text: string, keys: readonly ReceiptKey[]): Promise<Finding[]> {
  if (text.length > MAX_LENGTH) return [{ state: 'no_receipt' }]
  const findings: Finding[] = []
  const hashes = new Set<string>()
  // What matched stands between what did not.
  for (const [index, part] of text.split(RECEIPT).entries()) {
    if (index % 2 === 0) {
      // Another service may sign with signatures of another length.
      const others = part.split(/\s+/).filter((word) => word.startsWith('eyJ'))
      for (const word of others)
        findings.push(word.split('.').length === 3 ? await verifyReceipt(word, keys) : { state: 'changed' })
      continue
    }
    const finding = await verifyReceipt(part.replaceAll(/\s+/g, ''), keys)
    if (finding.state === 'genuine') {
      const { previous } = finding.claims
      if (previous) finding.follows = hashes.has(previous) ? 'shown' : 'not_shown'
      hashes.add(finding.hash)
    }
    findings.push(finding)
  }
  return findings.length === 0 && text.trim() !== '' ? [{ state: 'no_receipt' }] : findings
}

async function verifyReceipt(receipt: string, keys: readonly ReceiptKey[]): Promise<Finding> {
  const [header = '', payload = '', signature = '', ...more] = receipt.split('.')
  const read = readJson(header)
  if (!read || typeof read.kid !== 'string' || more.length > 0) return { state: 'no_receipt' }
  const { alg, typ, kid } = read
  const key = keys.find((key) => key.kid === kid)
  if (!key) return { state: 'unknown_key', kid }
  const bytes = decode(signature)
  const signed = new TextEncoder().encode(`${header}.${payload}`)
  const isSigned = bytes && (await isSignedWith(key, bytes, signed))
  if (isSigned === undefined) return { state: 'cannot_verify' }
  const claims = readJson(payload)
  const isReceipt = typ === 'withdrawal-receipt+jwt' && (alg === 'Ed25519' || alg === 'EdDSA')
  if (!isSigned || !claims || !isReceipt) return { state: 'changed' }
  return { state: 'genuine', claims, kid, hash: await hashOf(receipt), follows: 'first' }
}

/** Undefined if the browser does not support Ed25519. */
async function isSignedWith({ x }: ReceiptKey, signature: Bytes, signed: Bytes): Promise<boolean | undefined> {
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x }
    const key = await crypto.subtle.importKey('jwk', jwk, { name: 'Ed25519' }, false, ['verify'])
    return await crypto.subtle.verify({ name: 'Ed25519' }, key, signature, signed)
  } catch {
    return undefined
  }
}

type Bytes = Uint8Array<ArrayBuffer>

const hashOf = async (text: string): Promise<string> =>
  encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))

const encode = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** Null for what is not base64url in its one form: with spare bits in its last character one signature had several texts. */
function decode(text: string): Bytes | null {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
    return encode(bytes) === text ? bytes : null
  } catch {
    return null
  }
}

function readJson(part: string): Record<string, unknown> | null {
  try {
    const bytes = decode(part)
    const value = bytes && JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
