import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemContext } from '../context'
import type { Batch, CallQueue, SharedLookUp } from '../process'

// To coalesce: calls that come close together share one run, or one statement.

/** How long a run gathers calls before it begins: it costs as much for many items as for one. */
const GATHERING_MS = 20

/**
 * Runs `work` once at a time in a process, under its name. Calls that come during a run, or within the gathering time, share the
 * next run. It takes the items of all of them and sees what they have committed. Pass 0 when a request waits for the result.
 */
export function coalesced<Item = never>(
  name: string,
  work: (ctx: SystemContext, items: Item[]) => Promise<void>,
  gatheringMs = GATHERING_MS,
): (ctx: SystemContext, ...items: Item[]) => Promise<void> {
  const runNext = async (ctx: SystemContext, queue: Batch<Item>) => {
    await queue.running?.catch(() => {})
    await sleep(gatheringMs)
    queue.running = queue.next
    queue.next = undefined
    await work(ctx, queue.waiting.splice(0))
  }
  return (ctx, ...items) => {
    const batches = ctx.process.batches as Map<string, Batch<Item>>
    const queue = batches.get(name) ?? { waiting: [] }
    batches.set(name, queue)
    queue.waiting.push(...items)
    queue.next ??= runNext(ctx, queue)
    return queue.next
  }
}

/**
 * Runs `turn` again in the background while it returns that more is left. One run drains a queue at a time; a call meanwhile makes
 * it take one more turn, because its last one may not have seen what is due now.
 */
export function drain(ctx: SystemContext, queue: CallQueue, turn: () => Promise<boolean>): void {
  queue.needsAnotherTurn = true
  if (queue.isDraining) return
  queue.isDraining = true
  ctx.background(async () => {
    try {
      for (let isMoreLeft = false; isMoreLeft || queue.needsAnotherTurn; ) {
        queue.needsAnotherTurn = false
        isMoreLeft = await turn()
      }
    } finally {
      queue.isDraining = false
    }
  })
}

type Ask<Question, Answer> = (ctx: SystemContext, questions: Question[]) => Promise<Answer[]>

/** While so many statements are active, further questions wait and share the next one. */
const MAX_ACTIVE_STATEMENTS = 2
// A statement that takes longer than this no longer counts, so that a silent connection delays only the calls that share it. The
// limit follows the last response time, so that a slow database does not get ever more statements at once.
const MIN_TIMEOUT_MS = 100
const TIMEOUT_FACTOR = 4

/**
 * One statement answers all questions that come in the same turn of the event loop, or while earlier statements are active. Each
 * answer comes from a statement that began after its question. `ask` must answer in the order of the questions, and it must be
 * read-only, because it may run twice.
 */
export function coalescedLookup<Question, Answer>(
  name: string,
  ask: Ask<Question, Answer>,
): (ctx: SystemContext, question: Question) => Promise<Answer> {
  return (ctx, question) => {
    const lookUps = ctx.process.lookUps as Map<string, SharedLookUp<Question, Answer>>
    const queue = lookUps.get(name) ?? { waiting: [], active: 0, tookMs: 0 }
    lookUps.set(name, queue)
    return new Promise((resolve, reject) => {
      queue.waiting.push({ question, resolve, reject })
      if (queue.waiting.length === 1) setImmediate(runNextLookup, ctx, queue, ask)
    })
  }
}

async function runNextLookup<Question, Answer>(
  ctx: SystemContext,
  queue: SharedLookUp<Question, Answer>,
  ask: Ask<Question, Answer>,
) {
  if (queue.active >= MAX_ACTIVE_STATEMENTS || queue.waiting.length === 0) return
  queue.active++
  const batch = queue.waiting.splice(0)
  const startedAt = performance.now()
  let isQuick = true
  const startNext = () => {
    if (!isQuick) return
    isQuick = false
    queue.active--
    runNextLookup(ctx, queue, ask)
  }
  const timeout = setTimeout(startNext, Math.max(MIN_TIMEOUT_MS, TIMEOUT_FACTOR * queue.tookMs))
  try {
    const questions = batch.map(({ question }) => question)
    const answers = await ask(ctx, questions).catch((error) => {
      // A quick failure means a broken connection; the calls that share the statement need not fail with it.
      if (isQuick) return ask(ctx, questions)
      throw error
    })
    queue.tookMs = performance.now() - startedAt
    for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer)
  } catch (error) {
    for (const { reject } of batch) reject(error)
  } finally {
    clearTimeout(timeout)
    startNext()
  }
}
