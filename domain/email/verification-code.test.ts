import { beforeEach, expect, test } from 'vitest'
import { asUser, givenUser, type TestContext, testContext } from '@/testing/domain'
import { hour } from '../limits/durations'
import { parseStoredAddress } from './set-address'
import { macOfCode, macsOfCode, sendVerification } from './verification-code'

const ONE = { id: 'ecr_one', messageId: 'ecr_one', code: '042137', method: 'email_code', validMs: 12 * hour } as const

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
})

test('B1 B26 a code matches only the request that it was made for', async () => {
  const mac = macOfCode(ctx, 'ecr_one', '042137')
  const fits = (id: string, code: string) => macsOfCode(ctx, id, code).some((other) => other.equals(mac))
  expect(fits('ecr_one', '042137')).toBe(true)
  expect(['042138', '42137', '', ' 042137'].filter((code) => fits('ecr_one', code))).toEqual([])
  expect([fits('ecr_two', '042137'), fits('ecr_one0', '42137')]).toEqual([false, false])
})

test("B26 the message goes to the new address in the account's language, with code and link and the current address masked", async () => {
  const user = await givenUser(ctx, 'ada-of-the-message@example.test')
  await ctx.db.user.update({ where: { id: user.userId }, data: { locale: 'de' } })
  const address = parseStoredAddress('Ada.New@BÜCHER.test')
  const verification = { ...ONE, messageId: 'ecr_one-2', address, method: 'email_link' } as const
  const caller = await asUser(ctx, user)
  expect(await sendVerification(caller, verification)).toBe(true)
  expect(ctx.mailbox).toEqual([
    {
      to: 'Ada.New@xn--bcher-kva.test',
      // The account's locale, whoever called.
      locale: 'de',
      id: 'ecr_one-2',
      message: {
        template: 'verify-new-email',
        userName: 'Ada Lovelace',
        isOwn: false,
        currentEmail: 'a••••@example.test',
        newEmail: 'Ada.New@BÜCHER.test',
        code: '042137',
        link: 'https://accounts.test/verify-email#request=ecr_one&code=042137&as=a%40example.test',
        validMs: 12 * hour,
        validUntil: new Date(ctx.clock.now().getTime() + 12 * hour),
        firstMethod: 'email_link',
      },
    },
  ])
  await sendVerification({ ...caller, settingsUrl: 'https://shop.example.com/settings' }, verification)
  expect(ctx.mailbox[1]?.message).toMatchObject({
    link: 'https://shop.example.com/settings#request=ecr_one&code=042137&as=a%40example.test',
  })
  ctx.mailServer.accepts = false
  expect(await sendVerification(caller, verification)).toBe(false)
})

test('the message for the own address says so, and its link too', async () => {
  const user = await givenUser(ctx, 'Ada.Own@BÜCHER.test')
  const address = parseStoredAddress('ada.own@xn--bcher-kva.test')
  await sendVerification(await asUser(ctx, user), { ...ONE, address })
  expect(ctx.mailbox[0]?.message).toMatchObject({
    isOwn: true,
    link: 'https://accounts.test/verify-email#request=ecr_one&code=042137&own=1&as=A%40B%C3%9CCHER.test',
  })
})

test('the link names no current address that looks like the new one once both are masked', async () => {
  const user = await givenUser(ctx, 'ada-alike@example.test')
  const address = parseStoredAddress('ada-alike.new@example.test')
  await sendVerification(await asUser(ctx, user), { ...ONE, address })
  expect(ctx.mailbox[0]?.message).toMatchObject({
    link: 'https://accounts.test/verify-email#request=ecr_one&code=042137',
  })
})
