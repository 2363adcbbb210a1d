import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import path from 'node:path'

const TYPES: Record<string, string> = {
  '.js': 'application/javascript; charset=UTF-8',
  '.css': 'text/css; charset=UTF-8',
}

/**
 * Serves the scripts and styles that the build has compressed with Brotli, which are a seventh smaller than Next's gzip. Their
 * names change with their content. False means that Next must answer.
 */
export function createStaticFiles(
  buildDir = '.next',
): (incoming: IncomingMessage, outgoing: ServerResponse) => boolean {
  const root = path.join(buildDir, 'static')
  const files = new Map<string, { type: string; bytes: Buffer }>()
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const [, plain = '', extension = ''] = /^(.*(\.\w+))\.br$/.exec(name) ?? []
    const type = TYPES[extension]
    if (type)
      files.set(`/_next/static/${plain.replaceAll(path.sep, '/')}`, {
        type,
        bytes: readFileSync(path.join(root, name)),
      })
  }
  return (incoming, outgoing) => {
    const file = files.get(incoming.url?.split('?')[0] ?? '')
    if (!file || !/\bbr\b/.test(String(incoming.headers['accept-encoding']))) return false
    outgoing.writeHead(200, {
      'Content-Type': file.type,
      'Content-Length': file.bytes.length,
      'Content-Encoding': 'br',
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
    })
    outgoing.end(incoming.method === 'HEAD' ? undefined : file.bytes)
    return true
  }
}
