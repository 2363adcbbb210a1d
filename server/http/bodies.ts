import { isUtf8 } from 'node:buffer'
import { AppError } from '@/contract/errors'
import { MAX_BODY_BYTES } from '@/contract/vocabulary'
import { parseStrictJson } from '@/domain/strict-json'
import { mediaTypeOf } from './media-type'

/** The maximum nesting of objects and lists in a body. */
const MAX_DEPTH = 5

export async function readJson(request: Request, maxBytes?: number): Promise<{ text: string; value: unknown }> {
  if (!isJson(request.headers)) throw new AppError('REQUEST_003')
  const bytes = await readBody(request, maxBytes)
  if (!isUtf8(bytes)) throw new AppError('REQUEST_001', 'The body is not valid UTF-8.')
  const text = bytes.toString()
  const result = parseStrictJson(text, MAX_DEPTH)
  if ('problem' in result) throw new AppError('REQUEST_001', `The body ${result.problem}`)
  return { text, value: result.value }
}

/** The body as it came, for a source that has a form and a signature of its own. */
export async function readRaw(request: Request, maxBytesOf: Readonly<Record<string, number>>): Promise<Buffer> {
  const type = mediaTypeOf(request.headers)
  const maxBytes = Object.hasOwn(maxBytesOf, type) ? maxBytesOf[type] : undefined
  if (maxBytes === undefined) {
    throw new AppError('REQUEST_003', `Send the body as Content-Type: ${Object.keys(maxBytesOf).join(', ')}.`)
  }
  return readBody(request, maxBytes)
}

/** Whether the body is declared as uncompressed JSON in UTF-8. Other parameters of the media type are ignored. */
function isJson(headers: Headers): boolean {
  const [type = '', ...parameters] = (headers.get('Content-Type') ?? '').toLowerCase().split(';')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => /^charset\b/.test(parameter))
  const isOfUtf8 = charset === undefined || /^charset\s*=\s*("?)utf-8\1$/.test(charset)
  const encoding = headers.get('Content-Encoding') ?? 'identity'
  return type.trim() === 'application/json' && isOfUtf8 && encoding.toLowerCase() === 'identity'
}

const tooLarge = (maxBytes: number) => new AppError('REQUEST_002', `The body may have ${maxBytes} bytes at most.`)

function refuseOversized({ headers }: Request, maxBytes = MAX_BODY_BYTES): void {
  if (Number(headers.get('Content-Length')) > maxBytes) throw tooLarge(maxBytes)
}

/** Ignores the body. A body of unknown length is not read to its end, because it may never end. */
export function ignoreBody(request: Request): { text: string; value: unknown } {
  refuseOversized(request)
  return { text: '', value: {} }
}

async function readBody(request: Request, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const endedEarly = () => Promise.reject(new AppError('REQUEST_001', 'The body ended early.'))
  refuseOversized(request, maxBytes)
  // Node reads no more than Content-Length, so no size check is needed. Reading a stream would double the cost of a call.
  if (/^\d+$/.test(request.headers.get('Content-Length') ?? '')) {
    return Buffer.from(await request.arrayBuffer().catch(endedEarly))
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  const next = () => reader?.read().catch(endedEarly)
  for (let part = await next(); part && !part.done; part = await next()) {
    size += part.value.byteLength
    if (size > maxBytes) {
      reader?.cancel().catch(() => {})
      throw tooLarge(maxBytes)
    }
    chunks.push(part.value)
  }
  return Buffer.concat(chunks)
}
