import { resealSecrets } from '@/domain/reseal-secrets'
import { trimErasureLedger } from '@/domain/withdrawal/ledger/trim-erasure-ledger'
import { listSigningKeys, rotateSigningKey } from '@/domain/withdrawal/receipts/signing-keys'
import { replayErasureLedger } from '@/domain/withdrawal/replay-erasure-ledger'
import { command } from './command.ts'
import { timeOf } from './show.ts'
import { toTime } from './values.ts'

export const maintenanceCommands = [
  command({
    name: 'secrets reseal',
    summary:
      'Moves everything sealed in the database to the newest secret of CODE_SECRET; can be run again at any time.',
    options: {},
    run: (ctx) => resealSecrets(ctx),
  }),
  command({
    name: 'key list',
    summary: 'Lists the keys that sign receipts, and which of them waits, signs or is retired.',
    options: {},
    run: async (ctx) => ({ keys: await listSigningKeys(ctx) }),
  }),
  command({
    name: 'key rotate',
    summary: 'Publishes a new key, which signs a day later.',
    options: {
      now: { means: 'It signs at once, and the keys before it never again: for a key that may have leaked.' },
    },
    run: async (ctx, { now }) => ({ keys: await rotateSigningKey(ctx, { isNow: now }) }),
  }),
  command({
    name: 'ledger replay',
    summary: 'Withdraws again whom a restored backup brought back.',
    options: {},
    run: (ctx) => replayErasureLedger(ctx),
  }),
  command({
    name: 'ledger trim',
    summary: 'Drops the lines of the erasure ledger that no backup needs any more.',
    options: {
      before: { value: 'TIME', required: true, read: toTime, means: 'When the oldest backup was taken, ISO 8601.' },
    },
    isFinal: true,
    async run(ctx, { before }, _, agree) {
      const time = timeOf(before, ctx.clock.now())
      await agree(
        () =>
          `Drop the lines of the ledger before ${time}? A restore of an older backup then brings these people back.`,
      )
      return trimErasureLedger(ctx, before)
    },
  }),
]
