import { exportAudit } from '@/domain/work/export-audit'
import { reading } from './command.ts'
import { toTime } from './values.ts'

export const auditCommands = [
  reading({
    name: 'audit export',
    summary: 'Prints the audit, a line of JSON a row, the oldest first: no address, name, user ID or device.',
    options: {
      since: { value: 'TIME', required: true, read: toTime, means: 'ISO 8601, such as 2026-11-20T09:00:00Z.' },
      follow: { means: 'Goes on with every further row until it is stopped.' },
    },
    printsMany: true,
    run: async (ctx, { since, follow }) => exportAudit(ctx, { since, follow }),
  }),
]
