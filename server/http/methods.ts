export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof METHODS)[number]

/** The exports of a route file outside the API. Other methods get a 405 with an Allow header, which Next's own 405 lacks. */
export function refuseOtherMethods<Handler extends (request: never, context: never) => unknown>(
  handlers: Partial<Record<Method, Handler>>,
): Record<Method, Handler | (() => Response)> {
  const known = handlers.GET ? { HEAD: handlers.GET, ...handlers } : handlers
  const headers = { Allow: METHODS.filter((method) => known[method]).join(', '), 'Cache-Control': 'no-store' }
  const refuse = () => new Response(null, { status: 405, headers })
  const exports = METHODS.map((method) => [method, known[method] ?? refuse] as const)
  return Object.fromEntries(exports) as Record<Method, Handler | (() => Response)>
}
