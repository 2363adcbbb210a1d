import * as z from 'zod'
import { isStorable, lengthOf, STORABLE } from './define'
import type { Blocker } from './errors'
import { MAX_NEW_PASSWORD_LENGTH, MIN_NEW_PASSWORD_LENGTH } from './vocabulary'

export const isoDateTime = z.iso.datetime({ precision: 3 }).describe('UTC, ISO 8601 with milliseconds')
export const userId = z.string().describe('The user account: `usr_…`, or `~` and the external id')

/** What holds a withdrawal back, as in answers. */
export const blocker = z.object({
  code: z.string().describe('For programs, such as `unpaid_invoice`'),
  title: z.string().describe('As the person reads it'),
  url: z.string().nullable().describe('Where the person settles it'),
  source: z.string().describe('`account`, a service token or an application'),
}) satisfies z.ZodType<Blocker>

export const newPassword = z
  .string('PASSWORD_001')
  .refine(
    (text) => lengthOf(text) >= MIN_NEW_PASSWORD_LENGTH && lengthOf(text) <= MAX_NEW_PASSWORD_LENGTH,
    'PASSWORD_001',
  )
  .refine(isStorable, 'PASSWORD_001: new_password contains characters that no password can have.')
  .meta({
    description: 'Any characters, used as they are; not the current password',
    minLength: MIN_NEW_PASSWORD_LENGTH,
    maxLength: MAX_NEW_PASSWORD_LENGTH,
    pattern: STORABLE,
  })

/** Control characters, written for use inside a character class of the API description. */
export const CONTROLS = String.raw`\u0000-\u001F\u007F-\u009F`

/** The member `name`: one line of text that is not blank. */
export const lineName = (description: string, maxLength: number) =>
  z
    .string('REQUEST_001: name must be a string.')
    .refine(isStorable, 'REQUEST_001: name contains characters that cannot be stored.')
    .refine((text) => /\S/.test(text) && !/\p{Cc}/u.test(text), 'REQUEST_001: name must be text of one line.')
    .refine((text) => lengthOf(text) <= maxLength, `REQUEST_001: name has at most ${maxLength} characters.`)
    .meta({
      description,
      minLength: 1,
      maxLength,
      pattern: `^[^${CONTROLS}]*[^\\s\\uFEFF${CONTROLS}][^${CONTROLS}]*$`,
    })
