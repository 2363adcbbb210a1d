import { registerApp, setApp } from '@/domain/applications/manage'
import { type Bench, print, rounded } from './harness'
import { withdrawCrowd } from './sweep'

const APPLICATIONS = 3
const KINDS = ['plain', 'confirming'] as const

/** So many withdrawals, each with three applications: those of the first kind end with their answer, the others confirm it. */
export async function measureAbsence({ ctx, db, application }: Bench, people: number) {
  const seconds = { warm: 0, plain: 0, confirming: 0 }
  for (const kind of ['warm', ...KINDS] as const) {
    const appIds: string[] = []
    for (let n = 0; n < APPLICATIONS; n++) {
      const { appId } = await registerApp(ctx, {
        name: `${kind} ${n}`,
        endpoint: application.endpoint,
        audience: 'everyone',
        confirms: kind === 'confirming',
      })
      appIds.push(appId)
    }
    const count = kind === 'warm' ? Math.ceil(people / 10) : people
    await db.query(
      `INSERT INTO users (id, name, email, email_key, password_hash, created_at)
       SELECT 'usr_${kind}' || n, 'Bench', '${kind}' || n || '@example.test', '${kind}' || n || '@example.test', 'none', now()
       FROM generate_series(1, $1::int) n`,
      [count],
    )
    await db.query('ANALYZE')
    const { completedSeconds } = await withdrawCrowd(ctx, db, kind, count)
    seconds[kind] = completedSeconds
    // A removed application would be waited for; the next kind has its own.
    for (const appId of appIds) await setApp(ctx, { appId, audience: 'connected' })
  }
  print('Absence checks', { people, ...seconds, ratio: rounded(seconds.confirming / seconds.plain, 2) })
}
