import type { KeyObject } from 'node:crypto'

/** Work of one kind, which runs once at a time. */
export interface Batch<Item> {
  waiting: Item[]
  /** The run that began last, and the run that takes the items that come before it begins. */
  running?: Promise<void> | undefined
  next?: Promise<void> | undefined
}

/** Questions of one kind, which share statements. */
export interface SharedLookUp<Question, Answer> {
  waiting: { question: Question; resolve(answer: Answer): void; reject(reason: unknown): void }[]
  underWay: number
  /** How long the statement took that was answered last. */
  tookMs: number
}

/** Calls of deletion steps to applications that are under way. */
export interface DeletionCalls {
  isFirst: boolean
  taken: Set<Promise<unknown>>
  /** A run waits for free places and begins what is due in them. */
  isFilling: boolean
}

/** Deliveries of events to one application that are under way. */
export interface DeliveryCalls {
  calls: Set<Promise<unknown>>
  isWorkedOff: boolean
  /** More has become due while a run works it off. */
  isAskedAgain: boolean
}

/** Calls that are counted in memory alone. */
export interface CountedCalls {
  /** The times of each caller's calls, the oldest first. */
  times: Map<string, number[]>
  /** With so many callers, those without a call in the window are removed. */
  cleanupSize: number
}

/** A key of which this process knows the private part. */
export interface SigningKey {
  kid: string
  signsFrom: Date
  privateKey: KeyObject
}

/** What one process keeps in memory. All contexts of a process share it: the context of a request is a copy of the service's. */
export interface Process {
  batches: Map<string, Batch<unknown>>
  lookUps: Map<string, SharedLookUp<unknown, unknown>>
  /** First tries and later tries have places of their own, so that applications that hang hold up no first try. */
  deletionCalls: readonly DeletionCalls[]
  /** By the id of the application. */
  deliveryCalls: Map<string, DeliveryCalls>
  counted: Record<'read' | 'service', CountedCalls>
  /** The keys that sign; read again once they are older than a minute. */
  signing: { keys: readonly SigningKey[]; readAt: number }
  /** How long a sign-in takes at least: what the hashes in `measured` took. See domain/access/foreign-hashes.ts. */
  signInFloor: { ms: number; measured: string; readAt: number; reading?: Promise<void> | undefined }
}

export const createProcess = (): Process => ({
  batches: new Map(),
  lookUps: new Map(),
  deletionCalls: [true, false].map((isFirst) => ({ isFirst, taken: new Set(), isFilling: false })),
  deliveryCalls: new Map(),
  counted: { read: { times: new Map(), cleanupSize: 0 }, service: { times: new Map(), cleanupSize: 0 } },
  signing: { keys: [], readAt: Number.NEGATIVE_INFINITY },
  signInFloor: { ms: 0, measured: '', readAt: 0 },
})
