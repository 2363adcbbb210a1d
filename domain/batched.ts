import { setTimeout } from 'node:timers/promises'
import type { SystemContext } from './context'

interface Queue<Item> {
  waiting: Item[]
  /** The run that has begun last, and the one that will take what comes until it begins. */
  running?: Promise<void>
  next?: Promise<void>
}

/** Nobody waits for what is batched; a run costs as much for one as for many. */
const GATHERING_MS = 20

/**
 * `work` with one run at a time in a process. Who comes while one is under way, or shortly after the first, shares the next, which
 * takes the items of all of them and sees what they have committed.
 */
export function batched<Item = never>(
  work: (ctx: SystemContext, items: Item[]) => Promise<void>,
): (ctx: SystemContext, ...items: Item[]) => Promise<void> {
  const queues = new WeakMap<object, Queue<Item>>()
  const runNext = async (ctx: SystemContext, queue: Queue<Item>) => {
    await queue.running?.catch(() => {})
    await setTimeout(GATHERING_MS)
    queue.running = queue.next
    queue.next = undefined
    await work(ctx, queue.waiting.splice(0))
  }
  return (ctx, ...items) => {
    // A request's context is a copy; its clock is the service's.
    const queue = queues.get(ctx.clock) ?? { waiting: [] }
    queues.set(ctx.clock, queue)
    queue.waiting.push(...items)
    queue.next ??= runNext(ctx, queue)
    return queue.next
  }
}

interface Asked<Question, Answer> {
  question: Question
  resolve(answer: Answer): void
  reject(reason: unknown): void
}

/** While so many statements are under way, who comes waits for the next one. */
const QUESTIONS_AT_ONCE = 2

/**
 * One statement for all who ask in the same turn, or while earlier ones are under way: each is answered by a look at the database that
 * began after the question came. `ask` answers in the order of the questions, and fails for all who share it.
 */
export function askedTogether<Question, Answer>(
  ask: (ctx: SystemContext, questions: Question[]) => Promise<Answer[]>,
): (ctx: SystemContext, question: Question) => Promise<Answer> {
  const queues = new WeakMap<object, { waiting: Asked<Question, Answer>[]; underWay: number }>()
  return (ctx, question) => {
    const queue = queues.get(ctx.sql) ?? { waiting: [], underWay: 0 }
    queues.set(ctx.sql, queue)
    const askNext = async () => {
      if (queue.underWay >= QUESTIONS_AT_ONCE || queue.waiting.length === 0) return
      queue.underWay++
      const asked = queue.waiting.splice(0)
      try {
        const questions = asked.map(({ question }) => question)
        const answers = await ask(ctx, questions)
        for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as Answer)
      } catch (error) {
        for (const { reject } of asked) reject(error)
      } finally {
        queue.underWay--
        askNext()
      }
    }
    return new Promise((resolve, reject) => {
      queue.waiting.push({ question, resolve, reject })
      if (queue.waiting.length === 1) setImmediate(askNext)
    })
  }
}
