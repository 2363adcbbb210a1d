import { createServer } from 'node:http'
import { toNodeHandler } from 'better-auth/node'
import { auth } from './auth.mjs'

createServer(toNodeHandler(auth)).listen(Number(process.env.PORT), () => process.stdout.write('Ready\n'))
process.on('SIGTERM', () => process.exit(0))
