import { getApp } from '@/domain/applications/manage'
import { listDeliveries, resendEvents } from '@/domain/applications/operate-deliveries'
import { reading, revocable, UsageError } from './command.ts'
import { namedApp, TIME_FORM, toTime } from './values.ts'

const MAX_LISTED = 1000

export const eventCommands = [
  reading({
    name: 'event list',
    summary: 'Lists deliveries of events to applications, the newest first; they are kept for thirty days.',
    options: { app: namedApp, dead: { means: 'Only those that were given up.' } },
    example: '--app Billing --dead',
    async run(ctx, { app: appId, dead }) {
      if (appId) await getApp(ctx, { appId })
      return listDeliveries(ctx, { appId, status: dead ? 'dead' : undefined, limit: MAX_LISTED })
    },
  }),
  revocable({
    name: 'event resend',
    summary: 'Delivers an event again, or all of an application since a time, under their old IDs.',
    options: {
      id: { value: 'evt_…', positional: true, means: 'The event.' },
      app: namedApp,
      since: { value: 'TIME', read: toTime, means: `Needed with --app, from when on: ${TIME_FORM}` },
    },
    oneOf: ['id', 'app'],
    async run(ctx, { id: eventId, app: appId, since }) {
      if ((appId === undefined) !== (since === undefined)) throw new UsageError('--app and --since go together.')
      const resent = eventId === undefined ? { appId: appId as string, since: since as Date } : { eventId }
      return { resent: await resendEvents(ctx, resent) }
    },
  }),
]
