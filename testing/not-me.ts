import { expect } from 'vitest'
import { type Asking, type Caller, call, minute, verify } from './api-calls'
import { givenChange } from './callers'
import { mailsTo, type Service } from './service'

export const MINE = 'a new password of mine'

/** The id and the token in a link to the old address. */
export interface NotMeLink {
  id: string
  token: string
}

/** The links of all messages to this address, oldest first. */
export const linksTo = (ctx: Service, address: string): NotMeLink[] =>
  mailsTo(ctx, address).flatMap(({ message }) => {
    if (!('notMe' in message) || !message.notMe) return []
    const fragment = new URLSearchParams(new URL(message.notMe.url).hash.slice(1))
    return [{ id: fragment.get('change') ?? '', token: fragment.get('token') ?? '' }]
  })

export const linkTo = (ctx: Service, address: string): NotMeLink =>
  linksTo(ctx, address).at(-1) ?? { id: '', token: '' }

const ask =
  (operation: 'getNotMe' | 'undoEmailChange') =>
  ({ id, token }: NotMeLink, asking: Asking = {}) =>
    call({ userId: '', token }, operation, { ids: { changeRequestId: id }, ...asking })

export const read = ask('getNotMe')
export const redeem = (link: NotMeLink, asking: Asking = {}) =>
  ask('undoEmailChange')(link, { body: { new_password: MINE }, ...asking })

/** The account moves to another address, which is verified; a minute passes. Returns the id of the change. */
export async function move(ctx: Service, caller: Caller, to: string): Promise<string> {
  const { id, code } = await givenChange(ctx, caller, to)
  expect((await verify(caller, id, code)).code).toBe('accepted')
  await ctx.settle()
  ctx.clock.advance(minute)
  return id
}
