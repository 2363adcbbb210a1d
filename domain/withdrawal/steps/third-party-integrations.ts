import { day, hour } from '../../limits/durations'
import type { DeletionStep } from './deletion-step'

/** Third-party integration, 1–24 hours: applications are told, and what is shared with them is deleted. */
export const thirdPartyIntegrations: DeletionStep = {
  window: { dueMs: hour, estimateMs: day },
  firstStatus: 'pending',
  waitsForApplications: true,
  // The part of an application that has been told is gone by then.
  erases: [
    { table: 'shared_items', category: 'shared_data' },
    { table: 'app_connections', category: 'connections' },
  ],
}
