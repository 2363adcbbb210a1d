/** A file that is made while it is sent. */
export interface Download {
  fileName: string
  /** One after the other, each read when the one before it has ended. */
  documents: readonly DownloadedDocument[]
}

export interface DownloadedDocument {
  name: string
  at: Date
  /** Is asked for no more than the receiver takes. */
  read(): AsyncIterable<Buffer>
}
