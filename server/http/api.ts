import * as openApi from '@/app/api/v1/openapi.json/route'
import * as accessToken from '@/app/api/v1/users/[userId]/access-tokens/[accessId]/route'
import * as accessTokens from '@/app/api/v1/users/[userId]/access-tokens/route'
import * as cancel from '@/app/api/v1/users/[userId]/email/change/[changeRequestId]/route'
import * as change from '@/app/api/v1/users/[userId]/email/change/route'
import * as resend from '@/app/api/v1/users/[userId]/email/resend-verification/route'
import * as status from '@/app/api/v1/users/[userId]/email/status/route'
import * as verify from '@/app/api/v1/users/[userId]/email/verify/route'
import * as reauthentication from '@/app/api/v1/users/[userId]/reauthentication/route'
import * as session from '@/app/api/v1/users/[userId]/sessions/[sessionId]/route'
import * as sessions from '@/app/api/v1/users/[userId]/sessions/route'
import * as withdraw from '@/app/api/v1/users/[userId]/withdraw/route'
import * as withdrawal from '@/app/api/v1/users/[userId]/withdrawal/[withdrawalId]/route'
import { AppError } from '@/contract/errors'
import { allowed, type Endpoint, findEndpoint, type RouteHandler, refuse } from './endpoint'

const ROUTES = [
  change,
  cancel,
  verify,
  status,
  resend,
  withdraw,
  withdrawal,
  accessTokens,
  accessToken,
  sessions,
  session,
  reauthentication,
]

interface Path {
  pattern: RegExp
  names: string[]
  endpoints: Endpoint[]
}

const paths = ROUTES.map(toPath)

/** The whole of /api/v1 as one function, for mounting before Next: the same route files, the same answers. */
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

/** For what cannot even be read as a request, such as a malformed Host header. */
export const badRequest = (): Response =>
  refuse(
    new Request('http://localhost/'),
    new AppError('REQUEST_001', 'The request could not be read. Check its Host header.'),
  )

function toPath(handlers: Record<string, RouteHandler>): Path {
  const endpoints = [...new Set(Object.values(handlers).flatMap(({ endpoint }) => endpoint ?? []))]
  const template = endpoints[0]?.contract.path ?? ''
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
