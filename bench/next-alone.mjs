import { createServer } from 'node:http'
import { enableCompileCache } from 'node:module'
import path from 'node:path'

// Next alone on the build in BENCH_NEXT_DIR, without the API mounted before it; its compiled code is kept, as `npm start` keeps ours.
const dir = process.env.BENCH_NEXT_DIR ?? '.'
enableCompileCache(path.join(dir, '.next/cache/compiled'))
const { default: next } = await import('next')
const pages = next({ dev: false, dir, hostname: 'localhost', port: Number(process.env.PORT) })
await pages.prepare()
createServer(pages.getRequestHandler()).listen(Number(process.env.PORT), () => process.stdout.write('Ready\n'))
process.on('SIGTERM', () => process.exit(0))
