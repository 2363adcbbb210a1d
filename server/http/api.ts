import { AppError } from '@/contract/errors'
import type { Endpoint } from './endpoint'
import { ENDPOINTS } from './endpoints'
import { refuse } from './exchange'
import { openApi } from './openapi-document'
import { allowed, findEndpoint } from './route'

const paths = [...Map.groupBy(Object.values(ENDPOINTS), ({ contract }) => contract.path)].map(toPath)

/** Answers every request below /api/v1 with the same handlers as the route files of Next, without Next. */
export async function api(request: Request, ip: string): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/api/v1/openapi.json') return openApi.GET(request)
  for (const { pattern, names, endpoints } of paths) {
    const match = pattern.exec(pathname)
    if (!match) continue
    const found = findEndpoint(request.method, endpoints)
    if (!found) return refuse(request, 'REQUEST_004', { Allow: allowed(endpoints) })
    const params = decodeParams(names, match.slice(1))
    return params ? found.handle(request, params, ip) : refuse(request, 'REQUEST_005')
  }
  return refuse(request, 'REQUEST_005')
}

/** The answer where no Request can be made, for example because of a malformed Host header. */
export const badRequest = (): Response =>
  refuse(
    new Request('http://localhost/'),
    new AppError('REQUEST_001', 'The request could not be read. Check its Host header.'),
  )

function toPath([template, endpoints]: [template: string, endpoints: Endpoint[]]) {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  return { pattern: new RegExp(`^/api/v1${template.replaceAll(/\{\w+\}/g, '([^/]+)')}$`), names, endpoints }
}

function decodeParams(names: string[], values: string[]): Record<string, string> | null {
  try {
    return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(values[index] ?? '')]))
  } catch {
    return null
  }
}
