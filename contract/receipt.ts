import * as z from 'zod'
import { contract } from './define'
import { isoDateTime, maxLength } from './fields'
import { CATEGORIES, KEPT_FOR, RECEIPT_ANSWERS, RECEIPT_KINDS } from './vocabulary'

const erased = z.strictObject({ category: z.enum(CATEGORIES), records: z.int() })
const retained = z.strictObject({ ...erased.shape, reason: z.enum(KEPT_FOR), until: isoDateTime })

/** All members that the payload of a receipt may have. None of them names the person. */
export const receiptClaims = z.strictObject({
  iss: z.string(),
  iat: z.int(),
  jti: z.string().regex(/^rcp_/),
  sub: z.string().regex(/^wd_/),
  kind: z.enum(RECEIPT_KINDS),
  previous: z.string().optional(),
  withdrawal: z.strictObject({
    started_at: isoDateTime,
    completed_at: isoDateTime.optional(),
    purge_due_at: isoDateTime,
    due_by: isoDateTime.optional(),
  }),
  erased: z.array(erased).optional(),
  retained: z.array(retained).optional(),
  applications: z
    .array(
      z.strictObject({
        name: z.string(),
        told_at: isoDateTime.optional(),
        answer: z.enum(RECEIPT_ANSWERS),
        at: isoDateTime.optional(),
        reported_records: z.int().optional(),
      }),
    )
    .optional(),
  log: z.strictObject({ seq: z.int(), hash: z.string() }).optional(),
})
export type ReceiptClaims = z.output<typeof receiptClaims>

export const EXAMPLE_RECEIPT =
  'eyJhbGciOiJFZDI1NTE5IiwidHlwIjoid2l0aGRyYXdhbC1yZWNlaXB0K2p3dCIsImtpZCI6ImsifQ.eyJzdWIiOiJ3ZF80UW05WnNYMWNUN3VZYjJMaEtwVjB3Iiwia2luZCI6ImFjY2VwdGFuY2UifQ.c2lnbmF0dXJl'

export const listReceipts = contract({
  scope: 'account:manage',
  forbidden: 'WITHDRAWAL_005',
  name: 'listReceipts',
  summary: 'List Withdrawal Receipts',
  description: 'Lists the signed receipts of a withdrawal, for 24 months, to whoever has its status token.',
  method: 'GET',
  path: '/withdrawals/{withdrawalId}/receipts',
  params: z.object({ withdrawalId: z.string().describe('The withdrawal, `wd_…`') }),
  data: z.object({
    receipts: z
      .array(
        z.object({
          kind: z.enum(RECEIPT_KINDS).describe('What it proves'),
          issued_at: isoDateTime.describe('When it was signed'),
          receipt: z.string().check(maxLength(200_000)).describe('A JWS in compact form, signed with Ed25519'),
        }),
      )
      .describe('The oldest first'),
  }),
  limit: { bucket: 'read' },
  withdrawn: 'receipts',
  errors: ['RATE_001'],
  example: {
    data: { receipts: [{ kind: 'acceptance', issued_at: '2026-11-20T09:00:00.000Z', receipt: EXAMPLE_RECEIPT }] },
  },
})
