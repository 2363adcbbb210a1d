export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
type Method = (typeof METHODS)[number]

/** The exports of a route file outside the API: 405 with Allow under every other method; Next's own says no more than 405. */
export function refuseOtherMethods<Handler extends (request: never, context: never) => unknown>(
  handlers: Partial<Record<Method, Handler>>,
): Record<Method, Handler | (() => Response)> {
  const known = handlers.GET ? { HEAD: handlers.GET, ...handlers } : handlers
  const headers = { Allow: METHODS.filter((method) => known[method]).join(', '), 'Cache-Control': 'no-store' }
  const refuse = () => new Response(null, { status: 405, headers })
  const exports = METHODS.map((method) => [method, known[method] ?? refuse] as const)
  return Object.fromEntries(exports) as Record<Method, Handler | (() => Response)>
}
