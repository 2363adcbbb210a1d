import { spawn } from 'node:child_process'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from '@playwright/test'
import { inboxOf } from '@/e2e/fixtures'
import { driveOwnPage, faultsOf, snippetOf } from '@/e2e/own-page'
import { isOk } from '@/testing/listening'
import { Operator } from '@/testing/operator'
import { DATA_DIR, HOSTS, HOSTS_DIR, SERVICE_URL } from './hosts'

let token: string | undefined
test.beforeAll(async () => {
  const operator = new Operator({ DATA_DIR })
  const scopes = ['--scope', 'users:write', '--scope', 'pages:issue']
  token = (await operator.run('service-token', 'create', '--name', 'hosts', ...scopes)).service_token
  await operator.close()
})

for (const [name, host] of Object.entries(HOSTS)) {
  test(`a person changes the address with the code and watches the deletion to its end, in a page of ${name}`, async ({
    page,
  }) => {
    const directory = path.join(HOSTS_DIR, name)
    const given = { service: SERVICE_URL, page: host.url, person: name }
    const [html, js, tsx] = await Promise.all([
      snippetOf('html', given),
      snippetOf('js', given),
      snippetOf('tsx', given),
    ])
    await rm(directory, { recursive: true, force: true })
    for (const [file, text] of Object.entries(host.files({ html, js, tsx }))) {
      await mkdir(path.dirname(path.join(directory, file)), { recursive: true })
      await writeFile(path.join(directory, file), text)
    }
    if (host.build) expect(await node(host.build, directory).ended).toBe(0)
    else
      await cp(path.join(HOSTS_DIR, 'node_modules/user-account-service/element'), `${directory}/public/element`, {
        recursive: true,
      })

    const email = await createPerson(name)
    const server = node(host.start, directory)
    try {
      await expect.poll(() => isOk(host.url), { timeout: 30_000 }).toBe(true)
      const faults = faultsOf(page)
      await page.goto(host.url)
      // The build of the page keeps the colours of the parts.
      const deletes = page.getByRole('button', { name: 'Delete my account' })
      await expect(deletes).not.toHaveCSS('background-color', 'rgba(0, 0, 0, 0)')
      await driveOwnPage(page, email, inboxOf(DATA_DIR))
      await expect(page.getByRole('heading', { name: /^Your account was deleted/ })).toBeVisible({ timeout: 40_000 })
      expect(faults).toEqual([])
    } finally {
      server.child.kill()
      await server.ended
    }
  })
}

/** Runs the program that an adopter would, in the directory of a host. */
function node(args: readonly string[], cwd: string) {
  const env: NodeJS.ProcessEnv = { ...process.env, SERVICE_TOKEN: token, NODE_ENV: 'production' }
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
  return { child, ended: new Promise<number | null>((done) => child.once('close', done)) }
}

async function createPerson(name: string): Promise<string> {
  const email = `liv@${name}.example.test`
  const answer = await fetch(`${SERVICE_URL}/api/v1/admin/users/${name}`, {
    method: 'PUT',
    headers: {
      Authorization: `Bearer ${token}`,
      'X-Required-Scope': 'users:write',
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ email, email_verified: true, name: 'Liv' }),
  })
  expect(answer.status).toBe(201)
  return email
}
