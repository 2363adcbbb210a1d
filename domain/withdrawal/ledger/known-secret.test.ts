import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecrets } from '@/server/adapters/secrets'
import { givenWithdrawal, testContext } from '@/testing/domain'
import { signingKey } from '../receipts/signing-keys'
import { isSecretKnown } from './known-secret'

const OWN = 'code-secret-for-tests'

test('F45 a secret is known by the newest signing key or by the newest line of the ledger', async () => {
  const ctx = await testContext()
  await ctx.db.signingKey.deleteMany()
  await ctx.db.erasureLedgerHead.updateMany({ data: { origin: randomBytes(8).toString('hex'), batchSeq: 0 } })
  const isKnown = (...code: string[]) =>
    isSecretKnown({ ...ctx, secrets: createSecrets({ auth: ['auth-secret-for-tests'], code }) })
  expect(await isKnown('any secret of a new database')).toBe(true)
  await signingKey(ctx)
  expect([await isKnown('another secret'), await isKnown('another secret', OWN)]).toEqual([false, true])
  await givenWithdrawal(ctx)
  // The private part is gone, as after a restore of public keys.
  await ctx.db.signingKey.updateMany({ data: { sealedPrivate: null } })
  expect([await isKnown('another secret'), await isKnown('another secret', OWN)]).toEqual([false, true])
  ctx.ledgered.clear()
  expect(await isKnown('another secret')).toBe(true)
})
