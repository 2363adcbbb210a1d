import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { listening } from '@/testing/listening'
import { createStaticFiles } from './static-files'

test('a compressed script goes to clients that accept Brotli, and Next answers everything else', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'static-'))
  mkdirSync(path.join(dir, 'static/chunks'), { recursive: true })
  writeFileSync(path.join(dir, 'static/chunks/a.js'), 'alert(1)')
  writeFileSync(path.join(dir, 'static/chunks/a.js.br'), brotliCompressSync('alert(1)'))
  const serve = createStaticFiles(dir)
  const server = createServer((incoming, outgoing) => serve(incoming, outgoing) || outgoing.writeHead(404).end('next'))
  const port = await listening(server)
  onTestFinished(() => {
    server.close()
    rmSync(dir, { recursive: true })
  })
  const get = (file: string, encoding = 'gzip, br') =>
    fetch(`http://127.0.0.1:${port}/_next/static/chunks/${file}`, {
      headers: { 'Accept-Encoding': encoding },
    })
  const answer = await get('a.js')
  expect(answer.headers.get('content-type')).toBe('application/javascript; charset=UTF-8')
  expect(answer.headers.get('cache-control')).toContain('immutable')
  expect(await answer.text()).toBe('alert(1)')
  for (const left of [get('a.js', 'gzip'), get('b.js'), get('a.js.br'), get('..%2fchunks%2fa.js')]) {
    expect(await (await left).text()).toBe('next')
  }
})
