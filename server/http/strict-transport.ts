import { type Env, getEnv } from '../settings/env'

/** Strict-Transport-Security where the service is reached by https. Without `preload`, because that binds the whole domain for years. */
export function strictTransport(
  appUrl: string,
  env: Pick<Env, 'hstsCoversSubdomains'> = getEnv(),
): Record<string, string> {
  if (!appUrl.startsWith('https:')) return {}
  const scope = env.hstsCoversSubdomains ? '; includeSubDomains' : ''
  return { 'Strict-Transport-Security': `max-age=63072000${scope}` }
}
