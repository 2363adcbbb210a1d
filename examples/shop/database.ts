import { pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'

export const database = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 4 })
// An idle connection may end with its server; the next query opens another one.
database.on('error', () => {})

const TABLES = `
  CREATE TABLE IF NOT EXISTS users (
    id text PRIMARY KEY,
    name text NOT NULL,
    email text NOT NULL,
    password_hash text NOT NULL,
    -- Theirs at the account service, once it knows them. Who comes back after a deletion has another one.
    account text,
    account_version bigint NOT NULL DEFAULT 0,
    access_ended_at timestamptz
  );
  CREATE TABLE IF NOT EXISTS orders (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    user_id text NOT NULL REFERENCES users,
    title text NOT NULL,
    cents integer NOT NULL,
    paid_at timestamptz
  );
  CREATE INDEX IF NOT EXISTS orders_of_user ON orders (user_id);
  CREATE TABLE IF NOT EXISTS files (
    order_id integer NOT NULL REFERENCES orders ON DELETE CASCADE,
    name text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (order_id, name)
  );
  -- What the tax law wants kept. The rows outlive the order and the person's account.
  CREATE TABLE IF NOT EXISTS invoices (
    order_id integer PRIMARY KEY,
    user_id text NOT NULL,
    name text NOT NULL,
    cents integer NOT NULL,
    keep_until date NOT NULL
  );
  -- Deletions that the account service asked for. A restart goes on with those that are not reported.
  CREATE TABLE IF NOT EXISTS deletions (
    task_id text PRIMARY KEY,
    user_id text NOT NULL,
    account text NOT NULL,
    report_to text NOT NULL,
    report_token text,
    total integer NOT NULL,
    done integer NOT NULL DEFAULT 0,
    reported_at timestamptz
  );
  CREATE TABLE IF NOT EXISTS messages (id text PRIMARY KEY);`

export async function query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await database.query<Row>(sql, values)).rows
}

/** The hash as Django stores it. The account service accepts it, so people keep their password. */
function hashOf(password: string): string {
  const salt = randomBytes(12).toString('hex')
  const hash = pbkdf2Sync(password, salt, 600_000, 32, 'sha256').toString('base64')
  return `pbkdf2_sha256$600000$${salt}$${hash}`
}

function addUser({ id, name, email, password }: Record<'id' | 'name' | 'email' | 'password', string>) {
  const sql = `INSERT INTO users (id, name, email, password_hash) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
  return query(sql, [id, name, email, hashOf(password)])
}

/** Nothing is ordered by somebody whose account is being deleted. */
export const addOrder = (userId: string, title: string, cents: number) =>
  query(
    `WITH ordered AS (
       INSERT INTO orders (user_id, title, cents)
       SELECT id, $2, $3 FROM users WHERE id = $1 AND access_ended_at IS NULL FOR SHARE RETURNING id
     )
     INSERT INTO files SELECT id, 'gift-card.txt', convert_to('With love, ' || $1, 'UTF8') FROM ordered`,
    [userId, title, cents],
  )

export const payOrder = (orderId: number) =>
  query(
    `WITH paid AS (UPDATE orders SET paid_at = now() WHERE id = $1 AND paid_at IS NULL RETURNING id, user_id, cents)
     INSERT INTO invoices
     SELECT paid.id, u.id, u.name, paid.cents, make_date(extract(year FROM now())::integer + 10, 12, 31)
     FROM paid JOIN users u ON u.id = paid.user_id`,
    [orderId],
  )

const CUPS = [
  'Espresso cups',
  'Tea pot',
  'Bread board',
  'Lamp',
  'Blanket',
  'Vase',
  'Candles',
  'Mirror',
  'Clock',
  'Stool',
]

/** Creates the tables, and on the first start two customers; one of them has an order that is not paid. */
export async function openDatabase(): Promise<void> {
  await database.query(TABLES)
  const [anyone] = await query(`SELECT FROM users UNION ALL SELECT FROM deletions LIMIT 1`)
  if (anyone) return
  for (const [id, name] of [
    ['customer-7', 'Mia'],
    ['customer-8', 'Noor'],
  ] as const) {
    await addUser({ id, name, email: `${name.toLowerCase()}@example.com`, password: 'correct horse battery' })
    for (const [number, title] of CUPS.entries()) await addOrder(id, title, 1900 + 250 * number)
  }
  const paid = await query<{ id: number }>(`SELECT id FROM orders WHERE user_id <> 'customer-7' OR title <> 'Stool'`)
  for (const { id } of paid) await payOrder(id)
}
