import { exportData } from '@/domain/withdrawal/export-data'
import { zipOf } from '@/server/http/zip'
import { type Bench, givenCaller, mib, print, rounded, secondsOf } from './harness'

/** The export of one person with so many megabytes, read as fast as it comes, and how the process grows meanwhile. */
export async function measureExport({ ctx, db }: Bench, megabytes: number) {
  const [big, small] = [await givenCaller(ctx), await givenCaller(ctx)]
  const records = megabytes * 1_000
  // Each record is a kilobyte; nothing repeats within the window of the compression.
  await db.query(
    `WITH texts AS MATERIALIZED (
       SELECT t, string_agg(md5(t || '.' || n), '') AS text FROM generate_series(0, 999) t, generate_series(1, 28) n GROUP BY t
     )
     INSERT INTO analytics_events
     SELECT 'ane_' || lpad(n::text, 12, '0'), $2, 'page.viewed', jsonb_build_object('text', text), now()
     FROM generate_series(1, $1::int) n JOIN texts ON t = n % 1000`,
    [records, big.caller.actor.userId],
  )
  await db.query('VACUUM ANALYZE')
  let peak = 0
  const download = async ({ caller }: typeof big) => {
    let bytes = 0
    for await (const chunk of zipOf(await exportData(caller, { userId: caller.actor.userId }))) {
      bytes += chunk.length
      peak = Math.max(peak, process.memoryUsage.rss())
    }
    return bytes
  }
  // The first one loads what every export needs.
  await download(small)
  const before = process.memoryUsage.rss()
  let bytes = 0
  const seconds = await secondsOf(async () => {
    bytes = await download(big)
  })
  const archiveMB = Math.round(bytes / 1e6)
  print('The export of somebody with much', {
    records,
    archiveMB,
    seconds: rounded(seconds),
    growsByMiB: mib(peak - before),
  })
}
