import * as z from 'zod'
import { contract } from './define'
import { userId } from './fields'

export const exportData = contract({
  scope: 'account:manage',
  forbidden: 'AUTH_002',
  name: 'exportData',
  summary: 'Export Data',
  description: "Streams a ZIP archive with the account's data. The answer is the file itself, so there is no envelope.",
  method: 'POST',
  path: '/users/{userId}/export',
  params: z.object({ userId }),
  data: z.object({}),
  file: 'application/zip',
  limit: { bucket: 'export', countedBy: 'verb' },
  errors: ['REAUTH_001', 'RATE_001'],
  example: { data: {} },
})
