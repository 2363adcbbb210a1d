import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { Download } from '@/domain/download'
import { describeError, log } from '../watch/log'

/** Streams the documents as a ZIP archive. Each piece is read when the receiver has taken the one before it. */
export function zipOf({ documents }: Download): ReadableStream<Uint8Array> {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  // An archive without its end does not open, so that nobody takes a part of it for the whole.
  const fail = (error: Error) => {
    log().error({ event: 'download_failed', ...describeError(error) })
    output.destroy(error)
  }
  zip.on('error', fail)
  for (const { name, at, read } of documents) {
    zip.addReadStreamLazy(name, { mtime: at }, (answer) => {
      const pieces = Readable.from(read(), { objectMode: false, highWaterMark: 1 })
      // The ZIP library does not see errors of its sources, and an unhandled error ends the process.
      pieces.on('error', fail)
      answer(null, pieces)
    })
  }
  zip.end()
  return Readable.toWeb(output) as ReadableStream<Uint8Array>
}
