import { createServer } from 'node:http'
import next from 'next'

// Next alone on the build in BENCH_NEXT_DIR, without the API mounted before it.
const pages = next({
  dev: false,
  dir: process.env.BENCH_NEXT_DIR ?? '.',
  hostname: 'localhost',
  port: Number(process.env.PORT),
})
await pages.prepare()
createServer(pages.getRequestHandler()).listen(Number(process.env.PORT), () => process.stdout.write('Ready\n'))
process.on('SIGTERM', () => process.exit(0))
