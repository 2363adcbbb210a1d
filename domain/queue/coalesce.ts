import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemContext } from '../context'
import type { Batch, SharedLookUp } from '../process'

/** Nobody waits for what is batched; a run costs as much for one as for many. */
const GATHERING_MS = 20

/**
 * `work` with one run at a time in a process, known there by its name. Who comes while one is under way, or shortly after the first, shares the next, which
 * takes the items of all of them and sees what they have committed.
 */
export function batched<Item = never>(
  name: string,
  work: (ctx: SystemContext, items: Item[]) => Promise<void>,
): (ctx: SystemContext, ...items: Item[]) => Promise<void> {
  const runNext = async (ctx: SystemContext, queue: Batch<Item>) => {
    await queue.running?.catch(() => {})
    await sleep(GATHERING_MS)
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

type Ask<Question, Answer> = (ctx: SystemContext, questions: Question[]) => Promise<Answer[]>

/** While so many statements are under way, who comes waits for the next one. */
const AT_ONCE = 2
// One that takes much longer than usual no longer counts: a connection that has fallen silent holds up only those who share it. What
// is usual follows the database, so that one which is slow is not asked ever more.
const PATIENCE_MS = 100
const PATIENCE_TIMES = 4

/**
 * One statement for all who ask in the same turn, or while earlier ones are under way: each is answered by a look at the database that
 * began after the question came. `ask` answers in the order of the questions; it must change nothing, since it may be asked twice.
 */
export function askedTogether<Question, Answer>(
  name: string,
  ask: Ask<Question, Answer>,
): (ctx: SystemContext, question: Question) => Promise<Answer> {
  return (ctx, question) => {
    const lookUps = ctx.process.lookUps as Map<string, SharedLookUp<Question, Answer>>
    const queue = lookUps.get(name) ?? { waiting: [], underWay: 0, tookMs: 0 }
    lookUps.set(name, queue)
    return new Promise((resolve, reject) => {
      queue.waiting.push({ question, resolve, reject })
      if (queue.waiting.length === 1) setImmediate(askNext, ctx, queue, ask)
    })
  }
}

async function askNext<Question, Answer>(
  ctx: SystemContext,
  queue: SharedLookUp<Question, Answer>,
  ask: Ask<Question, Answer>,
) {
  if (queue.underWay >= AT_ONCE || queue.waiting.length === 0) return
  queue.underWay++
  const asked = queue.waiting.splice(0)
  const begunAt = performance.now()
  let isQuick = true
  const letNextGo = () => {
    if (!isQuick) return
    isQuick = false
    queue.underWay--
    askNext(ctx, queue, ask)
  }
  const patience = setTimeout(letNextGo, Math.max(PATIENCE_MS, PATIENCE_TIMES * queue.tookMs))
  try {
    const questions = asked.map(({ question }) => question)
    const answers = await ask(ctx, questions).catch((error) => {
      // What fails at once is one connection that was cut: no reason to fail for all who share it.
      if (isQuick) return ask(ctx, questions)
      throw error
    })
    queue.tookMs = performance.now() - begunAt
    for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as Answer)
  } catch (error) {
    for (const { reject } of asked) reject(error)
  } finally {
    clearTimeout(patience)
    letNextGo()
  }
}
