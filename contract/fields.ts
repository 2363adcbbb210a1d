import { z } from 'zod'

export const isoDateTime = z.iso.datetime({ precision: 3 })
export const userId = z.string().describe('The user account: `usr_…`, or `~` and the external id')
