import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createCertificate } from '@/testing/certificate'
import { parseEnv } from './env'

const directory = mkdtempSync(path.join(tmpdir(), 'account-url-'))
afterAll(() => rmSync(directory, { recursive: true }))
const one = createCertificate(directory)
const keyFile = path.join(directory, 'one.key')
writeFileSync(keyFile, one.key)
const otherKeyFile = path.join(directory, 'other.key')
writeFileSync(otherKeyFile, createCertificate(directory).key)
const FILES: Record<string, string> = { CERT: one.file, KEY: keyFile, OTHER: otherKeyFile }

const PLACE = 'postgresql://user:pa%3Fs%23s@db.example.com/accounts'
const urlWith = (parameters: string) =>
  `${PLACE}?${parameters.replaceAll(/\b[A-Z]{3,}\b/g, (name) => FILES[name] ?? name)}`
const read = (parameters: string) => parseEnv({ DATABASE_URL: urlWith(parameters) }).databaseUrl

test.each([
  ['', ''],
  ['schema=public', ''],
  ['sslmode=disable', '?sslmode=disable'],
  ['sslmode=no-verify', '?sslmode=no-verify'],
  ['sslmode=require', '?sslmode=verify-full'],
  ['sslmode=verify-full&sslrootcert=system', '?sslmode=verify-full'],
  ['host=/run/postgresql&application_name=accounts', '?host=%2Frun%2Fpostgresql&application_name=accounts'],
  ['options=-c%20deadlock_timeout%3D50ms', '?options=-c+deadlock_timeout%3D50ms'],
])('B130 DATABASE_URL may have %s, and the rest of it stays as it is', (parameters, kept) => {
  expect(read(parameters)).toBe(PLACE + kept)
})

test.each([
  ['sslmode=bogus', 'unknown sslmode; use one of disable, no-verify, require, verify-full, verify-ca'],
  ['sslmode=constructor', 'unknown sslmode'],
  ['sslmode=prefer', 'sslmode=prefer, which goes on without TLS where the server has none; use require, or disable'],
  ['sslmode=allow', 'sslmode=allow, which goes on'],
  ['sslmode=verify-ca', 'needs sslrootcert beside sslmode=verify-ca'],
  ['sslmode=verify-ca&sslrootcert=system', 'needs sslrootcert beside sslmode=verify-ca'],
  ['sslmode=no-verify&sslrootcert=CERT', 'an authority in sslrootcert that sslmode=no-verify does not ask'],
  ['sslrootcert=CERT', 'names certificates and no TLS; add sslmode=verify-full'],
  ['sslmode=disable&sslrootcert=CERT', 'names certificates and no TLS'],
  ['sslmode=require&sslrootcert=/none.pem', 'names in sslrootcert no file that can be read: ENOENT'],
  ['sslmode=require&sslrootcert=KEY', 'names in sslrootcert no certificate in PEM'],
  ['sslmode=require&sslcert=CERT', 'sslcert and sslkey together'],
  ['sslmode=require&sslcert=CERT&sslkey=CERT', 'names in sslkey no key without a passphrase in PEM'],
  ['sslmode=require&sslcert=CERT&sslkey=OTHER', 'an sslkey that is not the key of sslcert'],
  ['schema=accounts', 'parameter schema: the tables stand in the schema public, so give the service a database'],
  ['connection_limit=5', 'parameter connection_limit: set DATABASE_CONNECTIONS'],
  ['sslaccept=strict', 'parameter sslaccept: use sslmode=verify-full'],
  ['ssl=true', 'parameter ssl: use sslmode'],
  ['constructor=x', 'parameter constructor: it has no effect here, so remove it'],
  ['pool_timeout=2', 'parameter pool_timeout: it has no effect here, so remove it'],
])('B130 DATABASE_URL with %s stops the start with a sentence that says what to do', (parameters, sentence) => {
  expect(() => read(parameters)).toThrow(sentence)
  expect(() => read(parameters)).toThrow(/^DATABASE_URL .*\.$/)
})

test('what may be a part of a password is not repeated', () => {
  const url = 'postgresql://user:pa@ss?hunter2@db.example.com/accounts'
  expect(() => parseEnv({ DATABASE_URL: url })).toThrow(/^DATABASE_URL has a parameter without a name; [^@]+\.$/)
  expect(() => parseEnv({ DATABASE_URL: url })).not.toThrow('hunter2')
})

test('a certificate and the key of a client are taken', () => {
  expect(read('sslmode=require&sslcert=CERT&sslkey=KEY')).toContain('sslmode=verify-full')
})
