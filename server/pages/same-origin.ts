import { getEnv } from '../settings/env'

/** Whether the request comes from a page of this service. Browsers send Sec-Fetch-Site; older ones at least send Origin. */
export function isSameOrigin({ headers }: Request): boolean {
  const site = headers.get('Sec-Fetch-Site')
  return site ? site === 'same-origin' : headers.get('Origin') === getEnv().appUrl
}
