import { GRANTABLE_SCOPES, SERVICE_SCOPES, type ServiceScope } from '@/contract/define'
import { count } from '@/contract/words'
import { issueAccessToken, liveTokensOf, revokeAllTokens, revokeTokenOf } from '@/domain/sessions/access-tokens'
import { ownerOf } from '@/domain/sessions/end-one'
import { issueServiceToken, listServiceTokens, revokeServiceToken } from '@/domain/sessions/service-tokens'
import { final, reading, revocable, UsageError } from './command.ts'
import {
  anyAccount,
  checkActiveUser,
  idOf,
  namedAccount,
  namedApp,
  personOf,
  toHost,
  toLifetimeMs,
  toTokenName,
} from './values.ts'

const serviceScopes = Object.keys(SERVICE_SCOPES) as ServiceScope[]

export const tokenCommands = [
  revocable({
    name: 'token create',
    summary: 'Creates an access token and shows it this once.',
    options: {
      ...namedAccount,
      scope: {
        value: 'SCOPE',
        required: true,
        multiple: true,
        choices: GRANTABLE_SCOPES,
        means: 'What the token may do.',
      },
      'expires-in': {
        value: 'P30D',
        otherwise: 'P30D',
        read: toLifetimeMs,
        means: 'How long it works: an ISO 8601 duration such as PT1H.',
      },
      name: { value: 'NAME', otherwise: 'operator', read: toTokenName, means: 'The name in the list of tokens.' },
    },
    oneOf: ['user', 'email'],
    async run(ctx, { user, email, scope: scopes, 'expires-in': expiresInMs, name }) {
      const userId = idOf({ user, email })
      const token = await issueAccessToken(ctx, { userId, name, scopes, expiresInMs, actor: 'operator' })
      return { access_token: token.accessToken, expires_at: token.expiresAt.toISOString() }
    },
  }),
  reading({
    name: 'token list',
    summary: 'Lists the access tokens that work, newest first.',
    options: anyAccount,
    oneOf: ['user', 'email'],
    async run(ctx, given) {
      const user = idOf(given)
      await checkActiveUser(ctx, user)
      return { user_id: user, access_tokens: await liveTokensOf(ctx, user) }
    },
  }),
  final({
    name: 'token revoke',
    summary: 'Revokes one access token, or all of an account.',
    options: {
      id: { value: 'tok_…', positional: true, means: 'The token.' },
      user: { ...namedAccount.user, means: 'The account whose tokens are all revoked.' },
      email: namedAccount.email,
    },
    oneOf: ['id', 'user', 'email'],
    async asks(ctx, { id, ...account }) {
      const userId = id === undefined ? idOf(account) : await ownerOf(ctx, 'access_token', id)
      const person = await personOf(ctx, userId)
      const token = (await liveTokensOf(ctx, userId)).find(({ token_id }) => token_id === id)
      return token ? `Revoke the access token ${token.name} of ${person}?` : `Revoke every access token of ${person}?`
    },
    async run(ctx, { id, ...account }) {
      if (id !== undefined) {
        const { userId } = await revokeTokenOf(ctx, id)
        return { user_id: userId, token_id: id, revoked: 1 }
      }
      const user = idOf(account)
      return { user_id: user, revoked: await revokeAllTokens(ctx, user) }
    },
    says: ({ revoked }: { revoked: number }) => `${count(revoked, 'access token')} ended.`,
  }),
]

export const serviceTokenCommands = [
  revocable({
    name: 'service-token create',
    summary: 'Creates a token for a service of yours, which opens the admin API alone, and shows it this once.',
    options: {
      name: { value: 'NAME', required: true, read: toTokenName, means: 'The name of the service.' },
      scope: {
        value: 'SCOPE',
        required: true,
        multiple: true,
        choices: serviceScopes,
        means: 'What the token may do.',
      },
      host: {
        value: 'HOST',
        multiple: true,
        read: toHost,
        means: 'A host that the blockers of the service may link to.',
      },
      app: { ...namedApp, means: 'The application whose deletion tasks it takes; for the scope tasks:work alone.' },
      'expires-in': {
        value: 'P365D',
        otherwise: 'P365D',
        read: toLifetimeMs,
        means: 'How long it works: an ISO 8601 duration such as PT1H.',
      },
    },
    example: '--name crm --scope users:read',
    needsNoData: true,
    async run(ctx, { name, scope: scopes, host: hosts, app: appId, 'expires-in': expiresInMs }) {
      if (scopes.includes('tasks:work') && !appId) throw new UsageError('--scope tasks:work needs --app.')
      if (appId && !scopes.includes('tasks:work')) throw new UsageError('--app needs --scope tasks:work.')
      const token = await issueServiceToken(ctx, { name, scopes, hosts, appId, expiresInMs })
      return {
        service_token_id: token.id,
        service_token: token.serviceToken,
        expires_at: token.expiresAt.toISOString(),
      }
    },
  }),
  reading({
    name: 'service-token list',
    summary: 'Lists the service tokens that work, newest first.',
    options: {},
    run: async (ctx) => ({ service_tokens: await listServiceTokens(ctx) }),
  }),
  final({
    name: 'service-token revoke',
    summary: 'Revokes a service token.',
    options: { id: { value: 'svt_…', positional: true, required: true, means: 'The service token.' } },
    async asks(ctx, { id }) {
      const found = (await listServiceTokens(ctx)).find(({ service_token_id }) => service_token_id === id)
      return found ? `Revoke the token of ${found.name}? Its service is refused from then on.` : null
    },
    async run(ctx, { id }) {
      await revokeServiceToken(ctx, id)
      return { service_token_id: id, revoked: true }
    },
  }),
]
