import { registerApp, setApp } from '@/domain/applications/manage'
import { type Bench, print, rounded } from './harness'
import { withdrawCrowd } from './sweep'

const APPLICATIONS = 3
const ROUNDS = 10

/**
 * So many withdrawals, each with three applications: those of the first kind end with their answer, the others confirm it. They take turns,
 * so that what else the machine does meets both.
 */
export async function measureAbsence({ ctx, db, application }: Bench, people: number) {
  const seconds = { plain: 0, confirming: 0 }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const kind of ['plain', 'confirming'] as const) {
      const apps: string[] = []
      for (let n = 0; n < APPLICATIONS; n++) {
        const { appId } = await registerApp(ctx, {
          name: `${kind} ${n}`,
          endpoint: application.endpoint,
          audience: 'everyone',
          confirms: kind === 'confirming',
        })
        apps.push(appId)
      }
      const prefix = `${kind}${round}x`
      const count = Math.ceil(people / ROUNDS)
      await db.query(
        `INSERT INTO users (id, name, email, email_key, password_hash, created_at)
         SELECT 'usr_${prefix}' || n, 'Bench', '${prefix}' || n || '@example.test', '${prefix}' || n || '@example.test', 'none', now()
         FROM generate_series(1, $1::int) n`,
        [count],
      )
      await db.query('ANALYZE')
      const { completedSeconds } = await withdrawCrowd(ctx, db, prefix, count)
      // The first round warms up.
      if (round > 0) seconds[kind] += completedSeconds
      for (const appId of apps) await setApp(ctx, { appId, audience: 'connected' })
    }
  }
  print('Absence checks', {
    people,
    plain: rounded(seconds.plain),
    confirming: rounded(seconds.confirming),
    ratio: rounded(seconds.confirming / seconds.plain, 2),
  })
}
