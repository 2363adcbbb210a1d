import { expect, test } from 'vitest'
import { readJson } from './bodies'

test.each([
  ['a byte that begins nothing', [0x22, 0xff, 0x22]],
  ['half a character', [0x22, 0xc3, 0x22]],
  ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
  ['a surrogate as three bytes', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
])('%s is not UTF-8 and is refused', async (_, sent) => {
  const headers = { 'Content-Type': 'application/json' }
  const request = new Request('http://localhost', { method: 'POST', headers, body: new Uint8Array(sent) })
  await expect(readJson(request)).rejects.toMatchObject({
    code: 'REQUEST_001',
    details: 'The body is not valid UTF-8.',
  })
})
