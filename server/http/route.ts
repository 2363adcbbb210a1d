import type { OperationName } from '@/contract/operations'
import { clientIpOf } from './client-ip'
import type { Endpoint } from './endpoint'
import { ENDPOINTS } from './endpoints'
import { type Params, refuse } from './exchange'
import { METHODS, type Method } from './methods'
import { originHeaders } from './origins'

/** The exports of a route file: the operations of its path under their methods, and a 405 under the other methods. */
export function route(...names: OperationName[]) {
  const endpoints = names.map((name) => ENDPOINTS[name])
  return everyMethod(async (request: Request, context: { params: Promise<Params> }) => {
    // Next would also serve the path with a trailing slash, which does not exist in the API.
    if (new URL(request.url).pathname.endsWith('/')) return refuse(request, 'REQUEST_005')
    const found = findEndpoint(request.method, endpoints)
    if (!found) return refuse(request, 'REQUEST_004', { Allow: allowed(endpoints) })
    return found.handle(request, (await context.params) ?? {}, clientIpOf(request.headers))
  })
}

export const findEndpoint = (method: string, endpoints: readonly Endpoint[]): Endpoint | undefined =>
  endpoints.find(({ contract }) => contract.method === (method === 'HEAD' ? 'GET' : method))

export const allowed = (endpoints: readonly Endpoint[]): string =>
  endpoints.flatMap(({ contract }) => (contract.method === 'GET' ? ['GET', 'HEAD'] : [contract.method])).join(', ')

/** The exports of the route file for paths that do not exist. */
export const noSuchPath = everyMethod(async (request: Request) => refuse(request, 'REQUEST_005'))

/** The exports of a route file for a document that needs no credential. */
export const publicDocument = (read: () => unknown) =>
  everyMethod(async (request: Request) =>
    request.method === 'GET' || request.method === 'HEAD'
      ? Response.json(read(), {
          headers: {
            'Cache-Control': 'public, max-age=300',
            'X-Content-Type-Options': 'nosniff',
            ...originHeaders(request),
          },
        })
      : refuse(request, 'REQUEST_004', { Allow: 'GET, HEAD' }),
  )

function everyMethod<Answer>(answer: Answer): Record<Method, Answer> {
  return Object.fromEntries(METHODS.map((method) => [method, answer])) as Record<Method, Answer>
}
