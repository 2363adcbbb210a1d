import type { FileHandle } from 'node:fs/promises'
import { count } from '@/contract/words'
import { type GivenLine, IMPORT_BATCH, startImport, startImportCheck } from '@/domain/accounts/import'
import type { SystemContext } from '@/domain/context'

const MAX_LINE_BYTES = 64 * 1024
const READ_BYTES = 256 * 1024
const PROGRESS_MS = 2_000
const LINE_END = 0x0a

interface Read extends GivenLine {
  /** Of the file, up to the end of this line. */
  bytes: number
}

/** One result for each line; with `check` one for each problem, and at the end how many there are. */
export async function* importUsers(
  ctx: SystemContext,
  { file, check, print }: { file: FileHandle; check: boolean; print: (progress: string) => void },
): AsyncGenerator<object[]> {
  const users = check ? startImportCheck(ctx) : startImport(ctx)
  const { size } = await file.stat()
  const startedAt = performance.now()
  let printedAt = startedAt
  let [lines, problems] = [0, 0]
  for await (const batch of inBatches(linesOf(file))) {
    const results = await users.take(batch)
    lines += batch.length
    problems += results.filter((result) => 'error' in result).length
    if (results.length > 0) yield results
    if (performance.now() - printedAt < PROGRESS_MS) continue
    printedAt = performance.now()
    print(progressOf({ lines, problems, ms: printedAt - startedAt, share: (batch.at(-1)?.bytes ?? 0) / size }))
  }
  const seconds = (performance.now() - startedAt) / 1000
  print(
    `${count(lines, 'line')} in ${seconds.toFixed(1)} s, ${check ? count(problems, 'problem') : `${problems} refused`}.`,
  )
  if (check) yield [{ lines, problems }]
}

/** A stream that cannot tell its size has no remaining time. */
function progressOf(of: { lines: number; problems: number; ms: number; share: number }): string {
  const rate = Math.round((of.lines * 1000) / of.ms)
  const isKnown = of.share > 0 && of.share <= 1
  const left = isKnown ? `, about ${Math.ceil((of.ms * (1 / of.share - 1)) / 1000)} s left` : ''
  return `${count(of.lines, 'line')}, ${rate} a second, ${of.problems} with problems${left}`
}

async function* inBatches(lines: AsyncIterable<Read>): AsyncGenerator<Read[]> {
  let batch: Read[] = []
  for await (const line of lines) {
    batch.push(line)
    if (batch.length < IMPORT_BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Numbered from 1; empty lines are left out. However long a line is, no more of it is kept than a line may have. */
export async function* linesOf(file: FileHandle): AsyncGenerator<Read> {
  let kept: Buffer[] = []
  let [keptBytes, line, bytes] = [0, 1, 0]
  const end = (): Read[] => {
    const read = toLine(line++, keptBytes > MAX_LINE_BYTES ? null : Buffer.concat(kept), bytes)
    ;[kept, keptBytes] = [[], 0]
    return read ? [read] : []
  }
  const keep = (part: Buffer) => {
    bytes += part.length
    keptBytes += part.length
    if (keptBytes <= MAX_LINE_BYTES) kept.push(part)
    else kept = []
  }
  for await (const chunk of file.createReadStream({ highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, from)) {
      keep(chunk.subarray(from, at))
      bytes++
      yield* end()
      from = at + 1
    }
    keep(chunk.subarray(from))
  }
  if (keptBytes > 0) yield* end()
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Null for an empty line; a byte-order mark at the begin of the file is no part of it. */
function toLine(line: number, content: Buffer | null, bytes: number): Read | null {
  if (!content) return { line, text: '', bytes, problem: `The line has more than ${MAX_LINE_BYTES} bytes.` }
  try {
    const text = utf8.decode(content).trim()
    return text === '' ? null : { line, text, bytes }
  } catch {
    return { line, text: '', bytes, problem: 'The line is not UTF-8.' }
  }
}
