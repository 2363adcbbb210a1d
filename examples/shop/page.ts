import { html } from 'hono/html'
import { query } from './database.ts'

const { BASE_URL = 'http://localhost:3000' } = process.env

interface Order {
  id: number
  title: string
  cents: number
  is_paid: boolean
}
interface Customer {
  id: string
  name: string
  email: string
  is_leaving: boolean
  orders: Order[]
}
interface Deletion {
  user_id: string
  done: number
  total: number
  is_reported: boolean
  invoices: number
  keep_until: string | null
}

const readCustomers = () =>
  query<Customer>(
    `SELECT u.id, u.name, u.email, u.access_ended_at IS NOT NULL AS is_leaving,
       coalesce(json_agg(json_build_object('id', o.id, 'title', o.title, 'cents', o.cents, 'is_paid', o.paid_at IS NOT NULL)
         ORDER BY o.id) FILTER (WHERE o.id IS NOT NULL), '[]') AS orders
     FROM users u LEFT JOIN orders o ON o.user_id = u.id GROUP BY u.id ORDER BY u.id`,
  )

const readDeletions = () =>
  query<Deletion>(
    `SELECT d.user_id, d.done, d.total, d.reported_at IS NOT NULL AS is_reported,
       count(i.order_id)::integer AS invoices, max(i.keep_until)::text AS keep_until
     FROM deletions d LEFT JOIN invoices i ON i.user_id = d.user_id GROUP BY d.task_id ORDER BY d.user_id`,
  )

const orderRow = ({ id, title, cents, is_paid }: Order) => html`<li id="order-${id}">
  <span>${id}. ${title}</span><span>€ ${(cents / 100).toFixed(2)}</span>
  ${is_paid ? html`<small>paid</small>` : html`<form method="post" action="/orders/${id}/pay"><button>Pay order ${id}</button></form>`}
</li>`

const customerCard = ({ id, name, email, is_leaving, orders }: Customer) => html`<section aria-label="${name}">
  <h2>${name}</h2>
  <p>${email} · ${id}${is_leaving ? html` · <b>signed out of the shop, being deleted</b>` : ''}</p>
  <ol>${orders.map(orderRow)}</ol>
  ${is_leaving ? '' : html`<form method="post" action="/users/${id}/orders"><button>Order another cup</button></form>`}
</section>`

const deletionRow = ({ user_id, done, total, is_reported, invoices, keep_until }: Deletion) => html`<li>
  <span>${user_id}</span><span>${done} of ${total} orders deleted${is_reported ? ', reported as done' : ''}</span>
  ${keep_until ? html`<small>${invoices} invoices kept until ${keep_until}, because of the tax law</small>` : ''}
</li>`

/** The whole shop on one page, as its owner sees it. It looks again every second. */
export async function page() {
  const [customers, deletions] = await Promise.all([readCustomers(), readDeletions()])
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Corner Shop</title>
<style>
  :root { color-scheme: light dark; --page: #f7f6f3; --card: #fff; --text: #1d2433; --quiet: #566074; --line: #dcdad4 }
  @media (prefers-color-scheme: dark) { :root { --page: #10131a; --card: #191e28; --text: #eceef3; --quiet: #a3acbd; --line: #323a4a } }
  body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
  main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; display: grid; gap: 1rem; align-items: start; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)) }
  header, .all { grid-column: 1 / -1 }
  h1, h2, p, ol, ul { margin: 0; padding: 0 }
  h1 { font-size: 1.5rem } h2 { font-size: 1.125rem }
  p, small { color: var(--quiet) }
  a { color: inherit }
  section { padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--card) }
  ol, ul { margin: .75rem 0; list-style: none }
  li { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center; min-height: 2.5rem; padding: .125rem 0; border-top: 1px solid var(--line) }
  li span:first-child { flex: 1 }
  button { min-height: 2rem; padding: 0 .75rem; border: 1px solid var(--quiet); border-radius: .5rem; background: none; color: inherit; font: inherit; cursor: pointer }
</style></head><body><main>
<header><h1>Corner Shop</h1><p>People change their address and delete their account at the <a href="${BASE_URL}/settings/withdraw">account service</a>.</p></header>
${customers.map(customerCard)}
<section class="all" aria-label="Deletions"><h2>Deletions</h2>
  ${deletions.length > 0 ? html`<ul>${deletions.map(deletionRow)}</ul>` : html`<p>Nobody has left.</p>`}
</section>
</main>
<script>
  setInterval(async () => {
    const answer = await fetch('/').catch(() => null)
    if (!answer?.ok) return
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main')
    const main = document.querySelector('main')
    if (next.innerHTML !== main.innerHTML && !main.querySelector('button:focus')) main.replaceWith(next)
  }, 1000)
</script></body></html>`
}
