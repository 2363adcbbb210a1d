import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { csrf } from 'hono/csrf'
import { pushUsers, receive } from './account-service.ts'
import { addOrder, database, openDatabase, payOrder } from './database.ts'
import { workOffDeletions } from './deletions.ts'
import { page } from './page.ts'

// DATABASE_URL=… SERVICE_TOKEN=svc_… SIGNING_SECRET=whsec_… BASE_URL=… SHOP_URL=… PORT=… node examples/shop/shop.ts
const { PORT = '3100' } = process.env
const WORK_EVERY_MS = 500

const app = new Hono()
app.get('/', async (c) => c.html(await page()))
app.post('/account-messages', (c) => receive(c.req.raw))

app.use(csrf())
app.post('/users/:id/orders', async (c) => {
  await addOrder(c.req.param('id'), 'Another cup', 900)
  return c.redirect('/', 303)
})
app.post('/orders/:id{[0-9]{1,9}}/pay', async (c) => {
  await payOrder(Number(c.req.param('id')))
  return c.redirect('/', 303)
})

await openDatabase()
const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, () =>
  process.stdout.write(`The shop listens on http://localhost:${PORT}\n`),
)

/** What did not work, because the service is away, is tried again. */
async function work(): Promise<void> {
  for (const job of [pushUsers, workOffDeletions]) {
    await job().catch((error) => process.stderr.write(`${job.name}: ${error.message}\n`))
  }
  timer = setTimeout(work, WORK_EVERY_MS)
}
let timer = setTimeout(work)

for (const signal of ['SIGINT', 'SIGTERM', 'disconnect']) {
  process.on(signal, () => {
    clearTimeout(timer)
    server.close()
    database.end().finally(() => process.exit(0))
  })
}
