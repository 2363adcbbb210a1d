import { expect, test } from 'vitest'
import { CATEGORIES } from '@/contract/vocabulary'
import { testContext } from '@/testing/domain'
import { registerApp } from '../applications/manage'
import { describeApplications, describeDeletion } from './describe-deletion'
import { planWithdrawal } from './schedule'

test('the public page names every category of the deletion map, and what applications registered', async () => {
  const ctx = await testContext()
  const app = { endpoint: 'https://app.example.test/hook', categories: ['invoices'], reasons: ['tax law'] }
  await registerApp(ctx, { name: 'Orders', ...app })
  const { steps, kept, untilPurge, retentionDays } = describeDeletion(ctx)
  const ofLaw = kept.filter((one) => one.for === 'law').map(({ category }) => category)
  const gone = [...steps.flatMap(({ erases }) => erases), ...untilPurge]
  const named = new Set([...gone, ...ofLaw])
  expect(ofLaw.filter((category) => gone.includes(category))).toEqual([])
  expect(CATEGORIES.filter((category) => !named.has(category))).toEqual([])
  expect(ofLaw).toEqual(['transaction_logs', 'security_incidents', 'legal_records'])
  expect(steps.map(({ step }) => step)[0]).toBe('session_revocation')
  expect(await describeApplications(ctx)).toEqual({ categories: ['invoices'], reasons: ['tax law'] })
  expect(retentionDays).toBe(30)
})

test('at any time scale the pages say the times that the answers give', async () => {
  const ctx = await testContext()
  ctx.timeScale = 0.001
  const planned = planWithdrawal(ctx, new Date(0)).steps
  const said = describeDeletion(ctx).steps.filter(({ withinMs }) => withinMs > 0)
  expect(said).toHaveLength(planned.length - 1)
  for (const { step, withinMs } of said)
    expect(planned).toContainEqual(expect.objectContaining({ step, estimatedCompletion: new Date(withinMs) }))
})
