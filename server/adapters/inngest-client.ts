import { Inngest } from 'inngest'
import { engineLog } from '../watch/engine-log'

/** Mode, keys and address come from INNGEST_DEV, INNGEST_EVENT_KEY, INNGEST_SIGNING_KEY and INNGEST_BASE_URL. */
export const inngest = new Inngest({ id: 'user-account-service', logger: engineLog })
