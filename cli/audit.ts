import { exportAudit } from '@/domain/work/export-audit'
import { reading } from './command.ts'
import { TIME_FORM, toTime } from './values.ts'

export const auditCommands = [
  reading({
    name: 'audit export',
    summary: 'Prints the audit, a line of JSON a row, the oldest first: no address, name, user ID or device.',
    options: {
      since: { value: 'TIME', required: true, read: toTime, means: `From when on: ${TIME_FORM}` },
      follow: { means: 'Goes on with every further row until it is stopped.' },
    },
    printsMany: true,
    run: async (ctx, { since, follow }) => exportAudit(ctx, { since, follow }),
  }),
]
