import { toLabel } from '@/contract/words'
import { resealSecrets } from '@/domain/reseal-secrets'
import { trimErasureLedger } from '@/domain/withdrawal/ledger/trim-erasure-ledger'
import { listSigningKeys, rotateSigningKey } from '@/domain/withdrawal/receipts/signing-keys'
import { replayErasureLedger } from '@/domain/withdrawal/replay-erasure-ledger'
import { final, reading, revocable } from './command.ts'
import { timeOf } from './show.ts'
import { TIME_FORM, toTime } from './values.ts'

export const maintenanceCommands = [
  revocable({
    name: 'secrets reseal',
    summary:
      'Moves everything sealed in the database to the newest secret of CODE_SECRET; can be run again at any time.',
    options: {},
    run: (ctx) => resealSecrets(ctx),
    says: (answer: Awaited<ReturnType<typeof resealSecrets>>) => ({
      sealed: Object.entries(answer).map(([name, counts]) => ({ what: toLabel(name), ...counts })),
    }),
  }),
  reading({
    name: 'key list',
    summary: 'Lists the keys that sign receipts, and which of them waits, signs or is retired.',
    options: {},
    run: async (ctx) => ({ keys: await listSigningKeys(ctx) }),
  }),
  final({
    name: 'key rotate',
    summary: 'Publishes a new key, which signs a day later.',
    options: {
      now: { means: 'It signs at once, and the keys before it never again: for a key that may have leaked.' },
    },
    asks: (_, { now }) =>
      now
        ? 'Sign with a new key at once, and never again with the keys before it?'
        : 'Publish a new key, which signs a day later?',
    run: async (ctx, { now }) => ({ keys: await rotateSigningKey(ctx, { isNow: now }) }),
  }),
  final({
    name: 'ledger replay',
    summary: 'Withdraws again whom a restored backup brought back.',
    options: {},
    asks: () => 'Delete again every account that the erasure ledger has and this database still has too?',
    run: (ctx) => replayErasureLedger(ctx),
  }),
  final({
    name: 'ledger trim',
    summary: 'Drops the lines of the erasure ledger that no backup needs any more.',
    options: {
      before: { value: 'TIME', required: true, read: toTime, means: `When the oldest backup was taken: ${TIME_FORM}` },
    },
    asks: (ctx, { before }) =>
      `Drop the lines of the ledger before ${timeOf(before, ctx.clock.now())}? A restore of an older backup then brings these people back.`,
    run: (ctx, { before }) => trimErasureLedger(ctx, before),
  }),
]
