import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from './world'

/** Asks again until there is an answer; what the probe throws counts as none. */
export async function until<T>(what: string, probe: () => Promise<T> | T, withinMs = 90_000): Promise<NonNullable<T>> {
  const end = Date.now() + withinMs
  let last: unknown
  while (Date.now() < end) {
    try {
      last = await probe()
      if (last) return last as NonNullable<T>
    } catch (error) {
      last = error
    }
    await sleep(50)
  }
  throw new Error(`not within ${withinMs / 1000} s: ${what}`, { cause: last })
}

export const untilNothingWaitsToBeSent = (world: World): Promise<boolean> =>
  until('nothing waits to be sent', async () => {
    const rows = await world.query('SELECT FROM notices WHERE due_at IS NOT NULL')
    return rows.length === 0
  })

/** Whether this withdrawal has come so far. */
export async function isMarked(world: World, id: string, column: 'completed_at' | 'purged_at'): Promise<boolean> {
  const rows = await world.query(`SELECT FROM withdrawals WHERE id = $1 AND ${column} IS NOT NULL`, [id])
  return rows.length === 1
}
