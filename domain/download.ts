/** A file that is created while it is sent. */
export interface Download {
  fileName: string
  /** Sent one after the other; each is read when the one before it has ended. */
  documents: readonly DownloadedDocument[]
}

export interface DownloadedDocument {
  name: string
  at: Date
  /** Reads no faster than the receiver takes it. */
  read(): AsyncIterable<Buffer>
}
