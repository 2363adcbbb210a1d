import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'

export interface Certificate {
  key: string
  cert: string
  /** For NODE_EXTRA_CA_CERTS. */
  file: string
}

// Node signs and verifies, but writes no certificates: these are the few parts of DER that one needs.
const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const utcTime = (at: Date) => der(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replaceAll(/[-T:]/g, '')}Z`))
const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value))

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'))
const COMMON_NAME = '550403'
const SUBJECT_ALT_NAME = '551d11'
const BASIC_CONSTRAINTS = '551d13'
const DAY_MS = 24 * 60 * 60 * 1000

/** A certificate that signs itself, written to `directory`: for this name, and 127.0.0.1 where that is localhost. */
export function createCertificate(directory: string, host = 'localhost', days = 1): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const now = Date.now()
  const name = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(host)))))
  const address = host === 'localhost' ? [der(0x87, Buffer.from([127, 0, 0, 1]))] : []
  const names = sequence(der(0x82, Buffer.from(host)), ...address)
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime(new Date(now - 2 * DAY_MS)), utcTime(new Date(now + days * DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension(SUBJECT_ALT_NAME, names),
        extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.from([0xff])))),
      ),
    ),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey))
  const body = sequence(content, ECDSA_WITH_SHA256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n')
  const cert = `-----BEGIN CERTIFICATE-----\n${body.trim()}\n-----END CERTIFICATE-----\n`
  const file = path.join(directory, `certificate-${randomBytes(4).toString('hex')}.pem`)
  writeFileSync(file, cert)
  return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), cert, file }
}
