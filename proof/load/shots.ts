import type { MailServer } from '@/testing/mail-server'
import type { Person } from '@/testing/person'
import type { SentMail } from '../models/invariants'
import type { Shot } from './gun'

type Caller = Pick<Person, 'id' | 'token'>

const post = ({ id, token }: Caller, path: string, scope: string, body: object): Shot => ({
  method: 'POST',
  path: `/api/v1/users/${id}/${path}`,
  headers: { Authorization: `Bearer ${token}`, 'X-Required-Scope': scope },
  body: JSON.stringify(body),
})

export const change = (person: Person, newEmail = person.newEmail, password = person.password) =>
  post(person, 'email/change', 'email:manage', { new_email: newEmail, current_password: password })

export const verify = (person: Caller, request: string, code: string) =>
  post(person, 'email/verify', 'email:manage', { change_request_id: request, verification_code: code })

export const resend = (person: Caller, request: string) =>
  post(person, 'email/resend-verification', 'email:manage', { change_request_id: request })

export const withdraw = (person: Caller) =>
  post(person, 'withdraw', 'account:manage', { confirmation: 'DELETE_MY_ACCOUNT' })

/** The codes that arrived in this mailbox, oldest first. */
export const codesTo = (mail: MailServer, address: string): string[] =>
  mail.to(address).flatMap(({ text }) => /code=(\d{6})/.exec(text)?.[1] ?? [])

/** What the mail server took, as the checker reads it. */
export const sentMails = ({ mails }: MailServer): SentMail[] =>
  mails.map(({ to, messageId, text, subject }) => {
    const code = /code=(\d{6})/.exec(text)?.[1]
    const id = /^<([^@]+)@/.exec(messageId)?.[1] ?? messageId
    const template = code
      ? 'verify-new-email'
      : /withdraw|delet/i.test(subject)
        ? 'account-withdrawal-started'
        : 'email-changed'
    return { to: to.join(), id, template, code, at: new Date(0) }
  })
