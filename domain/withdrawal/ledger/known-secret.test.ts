import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecrets } from '@/server/adapters/secrets'
import { testContext } from '@/testing/domain'
import { givenWithdrawal } from '@/testing/withdrawals'
import { signingKey } from '../receipts/signing-keys'
import { nameOfNewSecret } from './known-secret'

const OWN = 'code-secret-for-tests'

test('F45 a secret is known by the newest signing key or by the newest line of the ledger, and another one has a name of its own', async () => {
  const ctx = await testContext()
  await ctx.db.signingKey.deleteMany()
  await ctx.db.erasureLedgerHead.updateMany({ data: { origin: randomBytes(8).toString('hex'), batchSeq: 0 } })
  const nameOf = (...code: string[]) =>
    nameOfNewSecret({ ...ctx, secrets: createSecrets({ auth: ['auth-secret-for-tests'], code }) })
  expect(await nameOf('any secret of a new database')).toBeNull()
  await signingKey(ctx)
  const name = await nameOf('another secret')
  expect(name).toMatch(/^[\w-]{12}$/)
  expect([await nameOf('another secret'), await nameOf('a third secret')]).toEqual([
    name,
    expect.not.stringMatching(name ?? ''),
  ])
  expect(await nameOf('another secret', OWN)).toBeNull()
  await givenWithdrawal(ctx)
  // The private part is gone, as after a restore of public keys.
  await ctx.db.signingKey.updateMany({ data: { sealedPrivate: null } })
  expect([await nameOf('another secret'), await nameOf('another secret', OWN)]).toEqual([expect.any(String), null])
  ctx.ledgered.clear()
  expect(await nameOf('another secret')).toBeNull()
})
