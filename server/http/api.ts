import * as adminAppPing from '@/app/api/v1/admin/apps/[appId]/ping/route'
import * as adminAppResend from '@/app/api/v1/admin/apps/[appId]/resend/route'
import * as adminAppSecret from '@/app/api/v1/admin/apps/[appId]/rotate-secret/route'
import * as adminApp from '@/app/api/v1/admin/apps/[appId]/route'
import * as adminApps from '@/app/api/v1/admin/apps/route'
import * as adminEvents from '@/app/api/v1/admin/events/route'
import * as adminLookUp from '@/app/api/v1/admin/look-up/route'
import * as adminTaskRetry from '@/app/api/v1/admin/tasks/[taskId]/retry/route'
import * as adminWaive from '@/app/api/v1/admin/tasks/[taskId]/waive/route'
import * as adminTasks from '@/app/api/v1/admin/tasks/route'
import * as adminUndeliverableUsers from '@/app/api/v1/admin/undeliverable-users/route'
import * as adminBlocker from '@/app/api/v1/admin/users/[externalId]/blockers/[key]/route'
import * as adminConnection from '@/app/api/v1/admin/users/[externalId]/connections/[appId]/route'
import * as adminConnections from '@/app/api/v1/admin/users/[externalId]/connections/route'
import * as adminPageTokens from '@/app/api/v1/admin/users/[externalId]/page-tokens/route'
import * as adminUser from '@/app/api/v1/admin/users/[externalId]/route'
import * as adminSessions from '@/app/api/v1/admin/users/[externalId]/sessions/route'
import * as adminWithdraw from '@/app/api/v1/admin/users/[externalId]/withdraw/route'
import * as adminUsers from '@/app/api/v1/admin/users/route'
import * as adminWithdrawalRetry from '@/app/api/v1/admin/withdrawals/[withdrawalId]/retry/route'
import * as notMe from '@/app/api/v1/email-changes/[changeRequestId]/not-me/route'
import * as emailChange from '@/app/api/v1/email-changes/[changeRequestId]/route'
import * as mailEvents from '@/app/api/v1/mail-events/[source]/route'
import * as openApi from '@/app/api/v1/openapi.json/route'
import * as confirmReset from '@/app/api/v1/password-resets/confirm/route'
import * as reset from '@/app/api/v1/password-resets/route'
import * as task from '@/app/api/v1/tasks/[taskId]/route'
import * as accessToken from '@/app/api/v1/users/[userId]/access-tokens/[accessId]/route'
import * as accessTokens from '@/app/api/v1/users/[userId]/access-tokens/route'
import * as cancel from '@/app/api/v1/users/[userId]/email/change/[changeRequestId]/route'
import * as change from '@/app/api/v1/users/[userId]/email/change/route'
import * as resend from '@/app/api/v1/users/[userId]/email/resend-verification/route'
import * as status from '@/app/api/v1/users/[userId]/email/status/route'
import * as verify from '@/app/api/v1/users/[userId]/email/verify/route'
import * as exported from '@/app/api/v1/users/[userId]/export/route'
import * as password from '@/app/api/v1/users/[userId]/password/route'
import * as reauthentication from '@/app/api/v1/users/[userId]/reauthentication/route'
import * as session from '@/app/api/v1/users/[userId]/sessions/[sessionId]/route'
import * as sessions from '@/app/api/v1/users/[userId]/sessions/route'
import * as preview from '@/app/api/v1/users/[userId]/withdraw/preview/route'
import * as withdraw from '@/app/api/v1/users/[userId]/withdraw/route'
import * as withdrawal from '@/app/api/v1/users/[userId]/withdrawal/[withdrawalId]/route'
import * as requestedWithdrawal from '@/app/api/v1/withdrawal-requests/confirm/route'
import * as requestedPreview from '@/app/api/v1/withdrawal-requests/preview/route'
import * as withdrawalRequest from '@/app/api/v1/withdrawal-requests/route'
import * as receipts from '@/app/api/v1/withdrawals/[withdrawalId]/receipts/route'
import { AppError } from '@/contract/errors'
import type { OperationName } from '@/contract/operations'
import { allowed, type Endpoint, findEndpoint } from './endpoint'
import { refuse } from './exchange'

/** The handler of each operation; an operation without its own handler does not compile. */
const ROUTES: { [Name in OperationName]: { endpoint: Endpoint & { contract: { name: Name } } } } = {
  changeEmail: change.POST,
  verifyEmail: verify.POST,
  getEmailStatus: status.GET,
  resendVerification: resend.POST,
  cancelEmailChange: cancel.DELETE,
  withdrawAccount: withdraw.POST,
  getWithdrawalStatus: withdrawal.GET,
  previewWithdrawal: preview.GET,
  listReceipts: receipts.GET,
  exportData: exported.POST,
  createAccessToken: accessTokens.POST,
  listAccessTokens: accessTokens.GET,
  revokeAccessToken: accessToken.DELETE,
  listSessions: sessions.GET,
  endSession: session.DELETE,
  endOtherSessions: sessions.DELETE,
  startReauthentication: reauthentication.POST,
  changePassword: password.POST,
  requestPasswordReset: reset.POST,
  getPasswordReset: confirmReset.GET,
  confirmPasswordReset: confirmReset.POST,
  receiveMailEvents: mailEvents.POST,
  requestWithdrawal: withdrawalRequest.POST,
  previewRequestedWithdrawal: requestedPreview.GET,
  confirmRequestedWithdrawal: requestedWithdrawal.POST,
  getEmailChange: emailChange.GET,
  getNotMe: notMe.GET,
  undoEmailChange: notMe.POST,
  putUser: adminUser.PUT,
  getUser: adminUser.GET,
  findUser: adminUsers.GET,
  listUndeliverableUsers: adminUndeliverableUsers.GET,
  withdrawUser: adminWithdraw.POST,
  endUserSessions: adminSessions.DELETE,
  issuePageToken: adminPageTokens.POST,
  putBlocker: adminBlocker.PUT,
  removeBlocker: adminBlocker.DELETE,
  putConnection: adminConnection.PUT,
  removeConnection: adminConnection.DELETE,
  listConnections: adminConnections.GET,
  listApps: adminApps.GET,
  getApp: adminApp.GET,
  setApp: adminApp.PUT,
  removeApp: adminApp.DELETE,
  rotateAppSecret: adminAppSecret.POST,
  pingApp: adminAppPing.POST,
  listEvents: adminEvents.GET,
  takeTasks: adminTasks.GET,
  waiveTask: adminWaive.POST,
  retryTask: adminTaskRetry.POST,
  retryWithdrawal: adminWithdrawalRetry.POST,
  resendDeadLetters: adminAppResend.POST,
  lookUp: adminLookUp.POST,
  reportOnTask: task.POST,
}

const endpoints = Object.values(ROUTES).map(({ endpoint }): Endpoint => endpoint)
const paths = [...Map.groupBy(endpoints, ({ contract }) => contract.path)].map(toPath)

/** Answers every request below /api/v1 with the same route files as Next, without Next. */
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
