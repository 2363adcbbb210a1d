import type { KeyObject } from 'node:crypto'

/** Work of one kind, of which one run is active at a time. */
export interface Batch<Item> {
  waiting: Item[]
  /** The run that began last, and the run that takes the items added before it begins. */
  running?: Promise<void> | undefined
  next?: Promise<void> | undefined
}

/** Questions of one kind, which share statements. */
export interface SharedLookUp<Question, Answer> {
  waiting: { question: Question; resolve(answer: Answer): void; reject(reason: unknown): void }[]
  active: number
  /** How long the last statement that was answered took. */
  tookMs: number
}

/** Active calls to applications that share places, and the run that starts them. */
export interface CallQueue {
  calls: Set<Promise<unknown>>
  /** A run starts due calls as places come free. */
  isDraining: boolean
  /** More may have become due while a run was active. */
  needsAnotherTurn: boolean
}

/** Calls that are counted in memory only. */
export interface CountedCalls {
  /** The times of each caller's calls, the oldest first. */
  times: Map<string, number[]>
  /** At this number of callers, those without a call in the window are removed. */
  cleanupSize: number
}

/** A line of the erasure ledger in its store. */
export interface StoredLine {
  /** Names the chain, which belongs to one database. */
  origin: string
  seq: number
  hash: string
}

/** A signing key whose private part this process knows. */
export interface SigningKey {
  kid: string
  signsFrom: Date
  privateKey: KeyObject
}

/** What one process keeps in memory. All contexts of a process share it: the context of a request is a copy of the service's. */
export interface Process {
  batches: Map<string, Batch<unknown>>
  lookUps: Map<string, SharedLookUp<unknown, unknown>>
  /** Calls of deletion steps to applications. First tries and later tries have separate places, so that applications that hang delay no first try. */
  deletionCalls: readonly (CallQueue & { isFirst: boolean })[]
  /** Keyed by the application's id. */
  deliveryCalls: Map<string, CallQueue>
  counted: Record<'read' | 'service', CountedCalls>
  ledger: {
    /** When the store of the erasure ledger took an object last. */
    storedAt: number
    /** It refused the last one. */
    isFailing: boolean
    /** The name of the newest batch that is known to be in it. */
    newest?: string | undefined
    /** The newest line that this process has seen in it. A database whose chain lacks this line has lost withdrawals. */
    seen?: StoredLine | undefined
    /** It may be another store, or have lines that the database has lost. */
    needsComparison: boolean
  }
  /** The acceptances that answer and mail of a withdrawal wait for, by its id. */
  acceptances: Map<string, Promise<string | undefined>>
  /** The keys that sign; they are read again after a minute. */
  signing: { keys: readonly SigningKey[]; readAt: number }
  /**
   * The minimum time of a sign-in, measured with the hashes in `measured`, and the part of all accounts whose hashes are imported. See
   * domain/passwords/foreign-hashes.ts.
   */
  signInFloor: {
    ms: number
    measured: string
    foreignShare: number
    readAt: number
    reading?: Promise<void> | undefined
  }
}

export const createCallQueue = (): CallQueue => ({ calls: new Set(), isDraining: false, needsAnotherTurn: false })

export const createProcess = (): Process => ({
  batches: new Map(),
  lookUps: new Map(),
  deletionCalls: [true, false].map((isFirst) => ({ isFirst, ...createCallQueue() })),
  deliveryCalls: new Map(),
  counted: { read: { times: new Map(), cleanupSize: 0 }, service: { times: new Map(), cleanupSize: 0 } },
  ledger: { storedAt: Number.NEGATIVE_INFINITY, needsComparison: false, isFailing: false },
  acceptances: new Map(),
  signing: { keys: [], readAt: Number.NEGATIVE_INFINITY },
  signInFloor: { ms: 0, measured: '', foreignShare: 0, readAt: 0 },
})
