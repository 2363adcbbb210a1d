import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { runFunction } from './engine-run'
import { listening } from './listening'

export interface Event {
  id: string
  name: string
  data: Record<string, string>
}

export interface EngineKeys {
  eventKey: string
  signingKey: string
}

/** How the engine treats an event: it runs the function this many times (0 loses the event), or does not answer. */
export type Fate = number | 'no answer'

const FUNCTION = (name: string) => `user-account-service-${name}`
const CRONS = ['sweep', 'send-notices', 'purge-retained-data']

/** An Inngest server as the service sees it. It takes events, runs functions and keeps all that it receives. */
export class Engine {
  readonly events: Event[] = []
  /** Every event and every answer of a function, as text, to be searched. */
  payloads = ''
  /** The steps of each run that has ended, in the order in which they were answered. */
  readonly runs: string[][] = []
  /** The instance whose functions are called; none while it is down. */
  serviceUrl: string | undefined
  private port = 0
  private server: Server | undefined
  private stopped = false

  private constructor(private readonly keys: EngineKeys | undefined) {}

  /** With `keys` it signs its calls and takes events under its event key alone; without, it is a development server. */
  static async start(
    onArrival: (arrival: number) => Fate | Promise<Fate> = () => 1,
    keys?: EngineKeys,
  ): Promise<Engine> {
    const engine = new Engine(keys)
    const eventPath = keys ? `/e/${keys.eventKey}` : '/e/'
    let arrivals = 0
    engine.server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      engine.payloads += `${request.url} ${body}\n`
      if (request.method !== 'POST' || !request.url?.startsWith(eventPath)) return response.writeHead(404).end()
      const events = JSON.parse(body) as Event[]
      engine.events.push(...events)
      const fate = await onArrival(++arrivals)
      if (fate === 'no answer') return request.socket.destroy()
      for (const event of events) for (let run = 0; run < fate; run++) engine.run('process-withdrawal', event)
      return response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ ids: events.map(({ id }) => id), status: 200 }))
    })
    engine.port = await listening(engine.server)
    engine.keepTime()
    return engine
  }

  get settings(): Record<string, string> {
    const INNGEST_BASE_URL = `http://127.0.0.1:${this.port}`
    return this.keys
      ? { INNGEST_EVENT_KEY: this.keys.eventKey, INNGEST_SIGNING_KEY: this.keys.signingKey, INNGEST_BASE_URL }
      : { INNGEST_DEV: '1', INNGEST_BASE_URL }
  }

  /** At least once: a call that got no answer comes again, and a run that failed begins again. */
  async run(name: string, event: Event): Promise<void> {
    while (!this.stopped) {
      try {
        const { result, steps } = await runFunction({
          url: () => `${this.serviceUrl}/api/inngest`,
          functionId: FUNCTION(name),
          signingKey: this.keys?.signingKey,
          event,
          sleepUntil: (at) => sleep(Math.max(0, at.getTime() - Date.now())),
          sleepFor: (ms) => sleep(ms),
          onNoAnswer: async () => {
            if (this.stopped) throw new Error('the engine has stopped')
            await sleep(200)
          },
        })
        this.payloads += `${name} ${JSON.stringify({ result, steps })}\n`
        this.runs.push(steps)
        return
      } catch {
        await sleep(200)
      }
    }
  }

  private async keepTime() {
    while (!this.stopped) {
      await sleep(500)
      if (!this.serviceUrl) continue
      for (const cron of CRONS) {
        await runFunction({
          url: `${this.serviceUrl}/api/inngest`,
          functionId: FUNCTION(cron),
          signingKey: this.keys?.signingKey,
          event: { name: 'inngest/scheduled.timer', data: {} },
          sleepUntil: () => {},
        }).catch(() => {})
      }
    }
  }

  stop() {
    this.stopped = true
    this.server?.closeAllConnections()
    this.server?.close()
  }
}
