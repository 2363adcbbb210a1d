import * as z from 'zod'
import { externalId } from './admin'
import { contract, FOR_SERVICES, FOR_SERVICES_ON_ACCOUNT } from './define'
import { appId, CONTROLS, isoDateTime, MAX_OUTSIDE_ID_BYTES, problemOfOutsideId } from './fields'

const subject = z
  .string('REQUEST_001: subject must be a string.')
  .superRefine((text, refined) => {
    const problem = problemOfOutsideId(text)
    if (problem) refined.addIssue({ code: 'custom', message: `REQUEST_001: subject ${problem}` })
  })
  .meta({
    description: `The application's own id of the person; 1 to ${MAX_OUTSIDE_ID_BYTES} bytes, no control character`,
    pattern: `^[^${CONTROLS}]+$`,
    maxLength: MAX_OUTSIDE_ID_BYTES,
  })

const path = '/admin/users/{externalId}/connections/{appId}'
const params = z.object({ externalId, appId })
const connection = {
  app_id: z.string().describe('The application, `app_…`'),
  subject: z.string().describe('By what the application knows the person'),
}
export const listedConnection = z.object({
  ...connection,
  name: z.string().describe('As people read it'),
  connected_at: isoDateTime.describe('When it was connected first'),
})
const user_id = z.string().describe('The account, `usr_…`')
const example = { app_id: 'app_7Yb3nLhRpV0a5Tq8wZ1cXk', subject: 'reader-7' }
const exampleUserId = 'usr_5Tq8wZ1cXk7Yb3nLhRpV0a'

export const putConnection = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'putConnection',
  summary: 'Connect User to Application',
  description:
    'Connects the account to an application, which is then told of the events that it wants and of the deletion. Another `subject` replaces the one before.',
  method: 'PUT',
  path,
  scope: 'users:write',
  params,
  body: z.object({ subject }),
  data: z.object({ user_id, ...connection }),
  message: 'The account is connected to the application.',
  errors: ['USER_001', 'REQUEST_005', 'RATE_001'],
  example: { body: { subject: example.subject }, data: { user_id: exampleUserId, ...example } },
})

export const removeConnection = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'removeConnection',
  summary: 'Disconnect User from Application',
  description: 'Ends a connection. The application is told nothing more of the account, not even of its deletion.',
  method: 'DELETE',
  path,
  scope: 'users:write',
  params,
  data: z.object({
    user_id,
    app_id: connection.app_id,
    removed: z.boolean().describe('Whether there was a connection'),
  }),
  message: 'The account is not connected to the application.',
  errors: ['USER_001', 'REQUEST_005', 'RATE_001'],
  example: { data: { user_id: exampleUserId, app_id: example.app_id, removed: true } },
})

export const listConnections = contract({
  ...FOR_SERVICES,
  name: 'listConnections',
  summary: 'List Connections of User',
  description: 'Lists the applications that the account is connected to.',
  method: 'GET',
  path: '/admin/users/{externalId}/connections',
  scope: 'users:read',
  params: z.object({ externalId }),
  data: z.object({
    user_id,
    connections: z.array(listedConnection).describe('The oldest first'),
  }),
  errors: ['USER_001', 'RATE_001'],
  example: {
    data: {
      user_id: exampleUserId,
      connections: [{ ...example, name: 'Library', connected_at: '2026-11-20T09:00:00.000Z' }],
    },
  },
})
