import fc from 'fast-check'
import { type ComponentType, createElement, type ReactNode } from 'react'
import { render, toPlainText } from 'react-email'
import { expect, test, vi } from 'vitest'
import type { Message } from '@/domain/ports'
import AccountWithdrawalStarted from '@/emails/account-withdrawal-started'
import EmailChangeRequested from '@/emails/email-change-requested'
import EmailChanged from '@/emails/email-changed'
import type { Filled, Slot } from '@/emails/slot'
import VerifyNewEmail from '@/emails/verify-new-email'
import { renderMessage, toContent } from './messages'

vi.mock('react-email', { spy: true })

const settings = { supportEmail: 'support@accounts.test', appUrl: 'https://accounts.test' }
const changed = (values: Partial<Extract<Message, { template: 'email-changed' }>> = {}): Message => ({
  template: 'email-changed',
  userName: 'Ada',
  oldEmail: 'old@example.test',
  newEmail: 'new@example.test',
  changedAt: new Date('2026-11-20T09:00:00Z'),
  ipAddress: '192.0.2.1',
  ...values,
})

/** The template with the texts themselves, as no form is. */
const filled = <Props>(template: (props: Props) => ReactNode, props: Filled<Props>) =>
  createElement(template as ComponentType<object>, props as object)

test('a template whose rendering failed is rendered again for the next message', async () => {
  vi.mocked(render).mockRejectedValueOnce(new Error('once'))
  await expect(renderMessage(changed(), settings)).rejects.toThrow('once')
  expect((await renderMessage(changed(), settings)).text).toContain('Hello Ada')
})

test('each message contains its own values, however many are rendered concurrently', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `Reader ${n}.`)
  const all = await Promise.all(names.map((userName) => renderMessage(changed({ userName }), settings)))
  for (const [n, { html, text }] of all.entries()) {
    for (const [other, name] of names.entries()) {
      expect([html.includes(name), text.includes(name)]).toEqual([other === n, other === n])
    }
  }
})

/** The library pads or cuts the preview by its length. */
const withoutPreview = (html: string) => html.replace(/<div style="display:none.*?<\/div><\/div>/s, '')
async function renderedByTheLibrary(element: Parameters<typeof render>[0]) {
  const html = await render(element)
  return { html: withoutPreview(html), text: toPlainText(html) }
}

// Texts that a name can hold, without spaces at their ends, which the plain text part would drop.
const anything = fc
  .array(
    fc.constantFrom(
      '<b>',
      '&amp;',
      '"',
      "'",
      '>',
      '$&',
      '$1',
      '\\',
      '\uE000code\uE001',
      '\uE000',
      '{x}',
      'é',
      '🔑',
      'a b',
      'Z',
    ),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''))

test('a value is escaped as react-email escapes it, and never becomes markup', async () => {
  await fc.assert(
    fc.asyncProperty(anything, anything, anything, async (userName, newEmail, ipAddress) => {
      const shown = {
        userName: Array.from(userName).slice(0, 80).join(''),
        newEmail,
        ipAddress,
        oldEmail: 'old@example.test',
      }
      const { html, text } = await renderMessage(changed(shown), settings)
      const expected = { ...shown, changedAt: '20 November 2026 at 09:00 UTC', supportEmail: settings.supportEmail }
      expect({ html: withoutPreview(html), text }).toEqual(await renderedByTheLibrary(filled(EmailChanged, expected)))
      expect(html).not.toContain('<b>')
    }),
    { numRuns: 50 },
  )
})

test('the notice of a request and the confirmation of a withdrawal are written as the library would write them', async () => {
  const values = { userName: "O'Hara <b>", newEmailMasked: 'a••••@example.test', ipAddress: '2001:db8::1' }
  const at = new Date('2026-11-20T09:00:00Z')
  const requested = await renderMessage({ template: 'email-change-requested', ...values, requestedAt: at }, settings)
  const shown = { ...values, requestedAt: '20 November 2026 at 09:00 UTC', supportEmail: settings.supportEmail }
  expect({ html: withoutPreview(requested.html), text: requested.text }).toEqual(
    await renderedByTheLibrary(
      filled(EmailChangeRequested, { ...shown, settingsUrl: 'https://accounts.test/settings/email' }),
    ),
  )
  const progressUrl = 'https://accounts.test/withdrawal/wd_x#token=wst_x'
  const started = await renderMessage(
    {
      template: 'account-withdrawal-started',
      userName: values.userName,
      progressUrl,
      scheduledCompletion: at,
      retentionDays: 30,
    },
    settings,
  )
  expect({ html: withoutPreview(started.html), text: started.text }).toEqual(
    await renderedByTheLibrary(
      filled(AccountWithdrawalStarted, {
        userName: values.userName,
        progressUrl,
        scheduledCompletion: '20 November 2026 at 09:00 UTC',
        retentionDays: '30',
        supportEmail: settings.supportEmail,
      }),
    ),
  )
})

test.each(['email_code', 'email_link'] as const)(
  'a verification message with the %s first is the rendering of its template',
  async (firstMethod) => {
    const values = {
      userName: 'Ada & "Co" <ada>',
      currentEmail: 'a••••@example.test',
      newEmail: 'new@example.test',
      code: '042137',
      link: 'https://accounts.test/verify-email#request=ecr_x&code=042137',
      firstMethod,
    }
    const { html, text } = await renderMessage(
      { template: 'verify-new-email', ...values, validMs: 90 * 60_000 },
      settings,
    )
    const element = filled(VerifyNewEmail, {
      ...values,
      validity: '1.5 hours',
      supportEmail: settings.supportEmail,
    })
    expect({ html: withoutPreview(html), text }).toEqual(await renderedByTheLibrary(element))
    // The plain text part has no button before the link.
    expect([html.includes('Or open'), text.includes('Or open')]).toEqual([true, false])
    expect([html.indexOf('id="code"') < html.indexOf('class="action"'), text.includes('1.5 hours')]).toEqual([
      firstMethod === 'email_code',
      true,
    ])
  },
)

const at = new Date('2026-11-20T09:00:00Z')
const names = { userName: '', newEmail: '', newEmailMasked: '', oldEmail: '', currentEmail: '', ipAddress: '' }
const verify = { template: 'verify-new-email', ...names, code: '', link: '', validMs: 0 } as const
/** Every template with empty texts, once for each of its choices. */
const EMPTY: { [Name in Message['template']]: Extract<Message, { template: Name }>[] } = {
  'verify-new-email': [
    { ...verify, firstMethod: 'email_code' },
    { ...verify, firstMethod: 'email_link' },
  ],
  'email-changed': [{ template: 'email-changed', ...names, changedAt: at }],
  'email-change-requested': [{ template: 'email-change-requested', ...names, requestedAt: at }],
  'account-withdrawal-started': [
    {
      template: 'account-withdrawal-started',
      ...names,
      progressUrl: '',
      scheduledCompletion: at,
      retentionDays: 0,
    },
  ],
}

// React leaves out the marks between texts where a text is empty.
const withoutMarks = (html: string) => withoutPreview(html).replaceAll('<!-- -->', '')

test.each(Object.values(EMPTY).flat())('no part of $template depends on whether a text is empty', async (message) => {
  const { html } = await renderMessage(message, { supportEmail: '', appUrl: '' })
  const { values, toElement } = toContent(message, { supportEmail: '', appUrl: '' })
  expect(withoutMarks(html)).toBe(withoutMarks(await render(toElement(values))))
})

test('a template that compares or measures a text does not compile', () => {
  const compares = (text: Slot) => {
    // @ts-expect-error: a slot equals no text
    if (text === 'Ada') return true
    // @ts-expect-error: a slot has no length
    if (text.length > 3) return true
    // @ts-expect-error: a slot has no methods of a text
    return text.startsWith('A')
  }
  expect(compares).toBeTypeOf('function')
})
