import type { SystemContext } from '../context'

/** The code is bound to its request: the MAC of one request's code fits no other request. */
const macText = (changeRequestId: string, code: string) => `${changeRequestId}:${code}`

export const macOfCode = (ctx: SystemContext, changeRequestId: string, code: string): Buffer =>
  ctx.secrets.mac('verification-code', macText(changeRequestId, code))

export const codeMatches = (ctx: SystemContext, request: { id: string; code_mac: Uint8Array }, code: string): boolean =>
  ctx.secrets.macMatches('verification-code', macText(request.id, code), request.code_mac)

/** The secret stands in the fragment, which no browser sends to a server. */
export const verificationLink = (ctx: SystemContext, changeRequestId: string, code: string): string =>
  `${ctx.appUrl}/verify-email#request=${changeRequestId}&code=${code}`
