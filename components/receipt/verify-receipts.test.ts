import { expect, test } from 'vitest'
import { listReceipts } from '@/domain/withdrawal/receipts/receipts'
import { publishedKeys, signingKey, signJws } from '@/domain/withdrawal/receipts/signing-keys'
import { runDueWork, testContext } from '@/testing/domain'
import { givenWithdrawal } from '@/testing/withdrawals'
import { verifyReceipts } from './verify-receipts'

const day = 24 * 60 * 60 * 1000

async function givenReceipts() {
  const ctx = await testContext()
  const { withdrawalId } = await givenWithdrawal(ctx)
  for (let days = 0; days < 2; days++) {
    ctx.clock.advance(day)
    await runDueWork(ctx)
  }
  const { receipts } = await listReceipts(ctx, { withdrawalId })
  const { keys } = await publishedKeys(ctx)
  return { ctx, withdrawalId, keys, texts: receipts.map(({ receipt }) => receipt) as [string, string] }
}

test('pasted receipts are genuine, and the page says which follows which', async () => {
  const { keys, texts, withdrawalId } = await givenReceipts()
  expect(await verifyReceipts(`\n${texts.join('\n\n')}\n`, keys)).toMatchObject([
    { state: 'genuine', follows: 'first', claims: { kind: 'acceptance', sub: withdrawalId } },
    { state: 'genuine', follows: 'shown', claims: { kind: 'completion' } },
  ])
  expect(await verifyReceipts(texts[1], keys)).toMatchObject([{ state: 'genuine', follows: 'not_shown' }])
})

test('receipts are genuine however a mail wraps them, and whatever words stand around them', async () => {
  const { keys, texts } = await givenReceipts()
  const genuine = texts.map(() => ({ state: 'genuine' }))
  for (const width of [7, 64, 76]) {
    const wrapped = texts.map((text) => text.match(new RegExp(`.{1,${width}}`, 'g'))?.join('\r\n  '))
    const mail = `My receipts: ${wrapped.join('\n\n')}\n\nBest wishes. One in a sentence: ${texts[0]}.`
    expect(await verifyReceipts(mail, keys), String(width)).toMatchObject([...genuine, { state: 'genuine' }])
  }
})

test('F32 no receipt with another character in any place is genuine', async () => {
  const { keys, texts } = await givenReceipts()
  const [receipt] = texts
  for (let at = 0; at < receipt.length; at++) {
    for (const other of ['A', 'B', '.', '=', '~']) {
      if (receipt[at] === other) continue
      const changed = receipt.slice(0, at) + other + receipt.slice(at + 1)
      const [finding] = await verifyReceipts(changed, keys)
      expect(finding?.state, changed).not.toBe('genuine')
    }
  }
  // The spare bits of the last character.
  for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
    const changed = receipt.slice(0, -1) + last
    if (changed !== receipt) expect(await verifyReceipts(changed, keys)).toEqual([{ state: 'changed' }])
  }
})

test('a key that the page does not have is an unknown key, and what is no receipt is none', async () => {
  const { ctx, keys, texts } = await givenReceipts()
  expect(await verifyReceipts(texts[0], [])).toEqual([{ state: 'unknown_key', kid: keys[0]?.kid }])
  expect(await verifyReceipts('hello to everybody', keys)).toEqual([{ state: 'no_receipt' }])
  expect(await verifyReceipts('eyJ '.repeat(20_000), keys)).toEqual([{ state: 'no_receipt' }])
  for (const tail of ['.more', 'A']) {
    expect(await verifyReceipts(texts[0] + tail, keys)).toEqual([{ state: 'changed' }])
  }
  const cut = `${texts[0].slice(0, -9)}\n${texts[1]}`
  expect(await verifyReceipts(cut, keys)).toMatchObject([{ state: 'changed' }, { state: 'genuine' }])
  expect(await verifyReceipts('  ', keys)).toEqual([])
  const other = await signJws(await signingKey(ctx), 'erasure-log+jwt', { lines: 1 })
  expect(await verifyReceipts(other, keys)).toEqual([{ state: 'changed' }])
})
