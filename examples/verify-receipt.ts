import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { compactVerify, createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet } from 'jose'

// Verifies receipts, offline too with a key set that was saved before. Exits with 1 where one is not genuine, and with 3 without keys.
const { BASE = 'http://localhost:3000', JWKS } = process.env
const [file] = process.argv.slice(2)
const missing = [file, JWKS].find((name) => name && !existsSync(name))
if (!file || missing) {
  process.stderr.write(missing ? `There is no file ${missing}.\n` : '')
  process.stderr.write('Usage: BASE=http://localhost:3000 npx node examples/verify-receipt.ts receipts.txt\n')
  process.stderr.write('       JWKS=jwks.json npx node examples/verify-receipt.ts receipts.txt\n')
  process.exit(2)
}
const keys = await readKeys()

let before: string | undefined
for (const receipt of readFileSync(file, 'utf8').split(/\s+/).filter(Boolean)) {
  try {
    const { payload, protectedHeader } = await compactVerify(receipt, keys, { algorithms: ['Ed25519', 'EdDSA'] })
    if (protectedHeader.typ !== 'withdrawal-receipt+jwt') throw new Error('It is signed, and no receipt.')
    const { kind, sub, previous, withdrawal, log } = JSON.parse(new TextDecoder().decode(payload))
    const follows = previous === undefined || previous === before ? '' : ' (the receipt before it is not here)'
    const line = log ? `, line ${log.seq} of the ledger (${log.hash})` : ''
    process.stdout.write(`genuine: ${kind} of ${sub}, begun ${withdrawal.started_at}${line}${follows}\n`)
    before = createHash('sha256').update(receipt).digest('base64url')
  } catch (error) {
    const isUnknown = error instanceof Error && 'code' in error && error.code === 'ERR_JWKS_NO_MATCHING_KEY'
    const why = isUnknown ? `unknown key ${decodeProtectedHeader(receipt).kid}` : `not genuine: ${String(error)}`
    process.stdout.write(`${why}\n`)
    process.exitCode = 1
  }
}

async function readKeys() {
  const url = new URL('/.well-known/jwks.json', BASE)
  try {
    if (JWKS) return createLocalJWKSet(JSON.parse(readFileSync(JWKS, 'utf8')))
    const response = await fetch(url)
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    return createLocalJWKSet((await response.json()) as JSONWebKeySet)
  } catch (error) {
    const { cause = error } = error as Error
    process.stderr.write(`The keys could not be read from ${JWKS || url}: ${String(cause)}\n`)
    process.stderr.write('So no receipt was verified. A key set that was saved before is enough: JWKS=jwks.json\n')
    process.exit(3)
  }
}
