import * as z from 'zod'
import { contract } from './define'
import { MAIL_SOURCES, MAX_BOUNCE_BYTES, MAX_MAIL_EVENT_BYTES } from './vocabulary'

export const receiveMailEvents = contract({
  name: 'receiveMailEvents',
  summary: 'Receive Mail Events',
  description:
    'Takes what a mail provider, or your own mail server as `dsn`, tells of messages that the service sent: each in its own form, with its own signature or secret. Providers send JSON, Amazon SES also as text/plain, and `dsn` takes message/rfc822 alone. An event that is not understood, or that came before, changes nothing.',
  method: 'POST',
  path: '/mail-events/{source}',
  bearer: 'none',
  tag: 'Mail',
  params: z.object({
    source: z.enum(MAIL_SOURCES, 'REQUEST_005').describe('Who sends it; one that is not switched on does not exist'),
  }),
  rawBody: {
    'application/json': MAX_MAIL_EVENT_BYTES,
    'text/plain': MAX_MAIL_EVENT_BYTES,
    'message/rfc822': MAX_BOUNCE_BYTES,
  },
  data: z.object({ accepted: z.literal(true).describe('The source need not send it again') }),
  errors: ['AUTH_001', 'REQUEST_003', 'REQUEST_005'],
  meanings: {
    AUTH_001:
      'The signature, of Postmark the user and password, of `dsn` the bearer secret, does not fit the setting of this source; or the call was signed more than five minutes ago.',
    REQUEST_003: 'This source does not send this media type; details names those that it sends.',
    REQUEST_005: 'This source is not switched on, or there is none of this name.',
  },
  example: { data: { accepted: true } },
})
