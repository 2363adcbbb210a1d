import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair } from 'jose'
import type Provider from 'oidc-provider'
import type { RequestContext } from 'oidc-provider'
import { FOREIGN_HOST, isLocalHost } from '../http/local-host'
import type { Env } from '../settings/env'
import { SettingsError } from '../settings/settings-error'
import { describeError, log } from '../watch/log'
import { DEMO_PERSON } from './demo-account'

/** A visitor chooses one of these people: the first has an account here, the second has none. */
const STRANGER = { externalId: 'demo-stranger', name: 'Sam Stranger' }
const PEOPLE = [DEMO_PERSON, STRANGER]
const MAX_FORM_BYTES = 1024

/** An OpenID Connect provider on this machine, for trying out how people without a password sign in. */
export async function startDemoProvider({ demoProviderPort, identityProvider, appUrl }: Env) {
  if (!demoProviderPort || !identityProvider) throw new Error('DEMO_OIDC is not set')
  const { issuer, clientId, clientSecret } = identityProvider
  const OidcProvider = await loadProvider()
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new OidcProvider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${appUrl}/api/auth/callback/oidc`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256' }] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/sign-in/${uid}` },
    // A sign-in counts as consent, because the only client learns nothing but the subject.
    async loadExistingGrant({ oidc: { client, session, provider } }: RequestContext) {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid')
      await grant.save()
      return grant
    },
    ttl: { AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 600, Session: 3600, AccessToken: 600 },
    async renderError(ctx: { type: string; body: string }) {
      ctx.type = 'html'
      ctx.body = page('<p>This request cannot be answered. Go back to the service and begin again.</p>')
    },
  })
  provider.on('server_error', (_ctx, error) => log().error({ event: 'demo_provider_failed', ...describeError(error) }))
  const server = createServer((request, response) => {
    serve(provider, request, response).catch((error) => {
      log().warn({ event: 'demo_provider_refused', ...describeError(error) })
      if (!response.headersSent) response.writeHead(400, { 'Content-Type': 'text/html; charset=utf-8' })
      response.end(page('<p>This sign-in has ended. Go back to the service and begin again.</p>'))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(demoProviderPort, '127.0.0.1', resolve)
  })
  return {
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The choice of a person, and everything else of the provider. */
async function serve(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  if (!isLocalHost(request.headers.host)) return void response.writeHead(421).end(`${FOREIGN_HOST}\n`)
  if (!/^\/sign-in\/[\w-]+$/.test(request.url ?? '')) return provider.callback()(request, response)
  response.setHeader('Cache-Control', 'no-store')
  if (request.method === 'GET') {
    return void response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page(people()))
  }
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  if (request.method !== 'POST' || !(length <= MAX_FORM_BYTES)) return void response.writeHead(400).end()
  const chosen = new URLSearchParams(await text(request)).get('person')
  const person = PEOPLE.find(({ externalId }) => externalId === chosen)
  const result = person ? { login: { accountId: person.externalId } } : { error: 'access_denied' }
  return provider.interactionFinished(request, response, result)
}

async function loadProvider() {
  try {
    return (await import('oidc-provider')).default
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new SettingsError(
      'DEMO_OIDC=1 needs the package oidc-provider, which is installed for development only: run npm install, or unset DEMO_OIDC.',
    )
  }
}

const people = () => `
  <p>This stands in for the identity provider of your product. Who are you?</p>
  <form method="post">
    ${PEOPLE.map(
      ({ externalId, name }) =>
        `<button name="person" value="${externalId}">${name}<small>${externalId === STRANGER.externalId ? 'has no account at the service' : 'has an account without a password'}</small></button>`,
    ).join('')}
    <button name="person" value="" class="quiet">Cancel</button>
  </form>`

const page = (content: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Demo identity provider</title>
<style>
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #1e293b; color: #0f172a; font: 16px/1.5 system-ui, sans-serif }
  main { box-sizing: border-box; width: min(24rem, 100vw - 2rem); padding: 1.5rem; border-radius: 1rem; background: #fff }
  h1 { margin: 0 0 .5rem; font-size: 1.25rem }
  form { display: grid; gap: .625rem }
  button { display: grid; padding: .75rem 1rem; border: 1px solid #64748b; border-radius: .5rem; background: #fff; font: inherit; font-weight: 600; text-align: left; cursor: pointer }
  button:hover { background: #f1f5f9 }
  small { font-weight: 400; color: #475569 }
  .quiet { border-color: transparent; font-weight: 400 }
</style></head><body><main><h1>Demo identity provider</h1>${content}</main></body></html>`
