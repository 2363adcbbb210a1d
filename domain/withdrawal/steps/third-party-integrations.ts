import { day, hour } from '../../limits/durations'
import { sql } from '../../sql'
import { columns, type DeletionStep, utc } from './deletion-step'

const applicationName = sql`(SELECT a.name FROM connected_apps a WHERE a.id = app_id)`

/** Third-party integration, 1–24 hours: applications are told, and what is shared with them is deleted. */
export const thirdPartyIntegrations: DeletionStep = {
  window: { dueMs: hour, estimateMs: day },
  firstStatus: 'pending',
  erasesAfterTasks: true,
  // The rows of applications that were told are already deleted.
  erases: [
    {
      table: 'shared_items',
      category: 'shared_data',
      exported: {
        isLarge: true,
        kind: 'provided',
        members: { ...columns('content'), application: applicationName, shared_at: utc('shared_at') },
      },
    },
    {
      table: 'app_connections',
      category: 'connections',
      exported: {
        kind: 'observed',
        members: { ...columns('subject'), application: applicationName, connected_at: utc('connected_at') },
      },
    },
  ],
}
