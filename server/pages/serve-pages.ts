import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import next from 'next'
import { clientIp, markClientIp } from '../http/client-ip'
import type { Env } from '../settings/env'
import { inRequest, requestIdOf } from '../watch/log'
import { answer503WhileAway } from './away'
import { hardenPage } from './page-headers'
import { cleanPageRequest, pageOfEncodedFragment } from './page-requests'
import { takeLanguageOfQuery } from './query-language'
import { createStaticFiles } from './static-files'

export type Pages = Awaited<ReturnType<typeof preparePages>>

/** Starts Next in this process, and hardens and cleans each request before Next sees it. */
export async function preparePages(env: Env) {
  // As in Next's standalone output: else Next reads next.config.mjs again, and loads a bundler for it.
  const { config } = JSON.parse(readFileSync('.next/required-server-files.json', 'utf8'))
  process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(config)
  // Next prints nothing, because onRequestError of instrumentation.ts logs errors in order.
  const pages = next({ dev: false, port: env.port, hostname: 'localhost', quiet: true })
  await pages.prepare()
  const handle = pages.getRequestHandler()
  const serveStaticFile = createStaticFiles()
  return {
    close: () => pages.close(),
    async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
      markClientIp(incoming, clientIp(incoming))
      cleanPageRequest(incoming)
      hardenPage(incoming, outgoing, env)
      const page = pageOfEncodedFragment(incoming)
      if (page) return void outgoing.writeHead(302, { Location: page, 'Cache-Control': 'no-store' }).end()
      if (serveStaticFile(incoming, outgoing)) return
      takeLanguageOfQuery(incoming, outgoing)
      const requestId = requestIdOf(incoming.headers['x-request-id'])
      outgoing.setHeader('X-Request-Id', requestId)
      answer503WhileAway(outgoing, requestId)
      return inRequest(requestId, () => handle(incoming, outgoing))
    },
  }
}
