import { globSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { createElement, type ReactElement } from 'react'
import { render } from 'react-email'
import { expect, test, vi } from 'vitest'
import { LANGUAGES, type Language } from '@/contract/languages'
import type { Message } from '@/domain/ports'
import type { Slot } from '@/emails/slot'
import { getEnv } from '../settings/env'
import { ENGLISH, flatten, sourceOf, type Texts } from '../texts/catalogue'
import { letterOf, lookIn, type MessageSettings, wordingIn } from './letters'
import { escapeHtml, renderMessage, toText } from './messages'

vi.mock('react-email', { spy: true })

const settings: MessageSettings = {
  ...getEnv(),
  supportEmail: 'support@accounts.test',
  appUrl: 'https://accounts.test',
  authority: { name: 'Data Protection Office', url: 'https://authority.test/complain' },
}
const acme: MessageSettings = {
  ...settings,
  supportEmail: 'help@acme.test',
  authority: null,
  brand: {
    ...settings.brand,
    name: 'Acme & Söhne',
    url: 'https://acme.test/',
    supportUrl: 'https://acme.test/help',
    logo: { type: 'image/png', bytes: Buffer.from('') },
    accentColor: '#8a1538',
  },
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const changed = (values: Partial<Extract<Message, { template: 'email-changed' }>> = {}): Message => ({
  template: 'email-changed',
  userName: 'Ada',
  hasPassword: true,
  oldEmail: 'old@example.test',
  newEmail: 'new@example.test',
  changedAt: new Date('2026-11-20T09:00:00Z'),
  ipAddress: '192.0.2.1',
  userAgent: FIREFOX,
  notMe: null,
  ...values,
})

const textsIn = async (language: Language) => (await sourceOf(language)) as typeof ENGLISH

/** The template with the texts themselves, without slots. */
async function filled(message: Message, language: Language = 'en', by = settings): Promise<ReactElement> {
  const wording = await wordingIn(language)
  const { values, isNamed, toElement } = letterOf(message, wording, by)
  return toElement(lookIn(wording, by, isNamed), values)
}

test('a template whose rendering failed is rendered again for the next message', async () => {
  vi.mocked(render).mockRejectedValueOnce(new Error('once'))
  await expect(renderMessage(changed(), null, settings)).rejects.toThrow('once')
  expect((await renderMessage(changed(), null, settings)).text).toContain('Hello Ada')
})

test('the plain text keeps the letters of a title as they are', async () => {
  const { text } = await renderMessage(changed(), 'de', settings)
  expect(text).toContain('\nIhre E-Mail-Adresse wurde geändert\n')
})

/** The library pads or cuts the preview by its length. */
const withoutPreview = (html: string) => html.replace(/<div style="display:none.*?<\/div><\/div>/s, '')
async function renderedByTheLibrary(element: Parameters<typeof render>[0]) {
  const html = await render(element)
  return { html: withoutPreview(html), text: toText(html) }
}

// Texts that a name can hold, without spaces at their ends, which the plain text part would drop.
const PIECES = ['<b>', '&amp;', '"', "'", '>', '$&', '$1', '\\', '\uE000code\uE001', '\uE000', '{x}', 'é', '🔑', 'a b']
const anything = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(''))

test('a value is escaped as react-email escapes it, and never becomes markup', async () => {
  await fc.assert(
    fc.asyncProperty(anything, anything, anything, async (userName, newEmail, ipAddress) => {
      const shown = { userName: Array.from(userName).slice(0, 80).join(''), newEmail, ipAddress }
      const { html, text } = await renderMessage(changed(shown), null, settings)
      expect({ html: withoutPreview(html), text }).toEqual(await renderedByTheLibrary(await filled(changed(shown))))
      for (const value of Object.values(shown)) expect(html).toContain(escapeHtml(value))
      expect(html).not.toContain('<b>')
    }),
    { numRuns: 50 },
  )
})

const at = new Date('2026-11-20T09:12:00Z')
const until = new Date('2026-11-27T09:12:00Z')

const WAYS = ['person', 'settings', 'program', 'mail', 'service', 'support'] as const

/** Every template, once for each of its choices. `text` makes each text from its name. */
function everyMessage(text: (name: string) => string): Message[] {
  const userName = text('userName')
  const person = { userName, ipAddress: text('ipAddress'), userAgent: text('userAgent') }
  const requested = { ...person, requestedAt: at }
  const verify = {
    template: 'verify-new-email',
    ...{ userName, currentEmail: text('currentEmail'), newEmail: text('newEmail') },
    ...{ code: text('code'), link: text('link'), validMs: 90 * 60_000, validUntil: until, isOwn: false },
  } as const
  const change = {
    ...person,
    template: 'email-changed',
    oldEmail: text('oldEmail'),
    newEmail: text('newEmail'),
  } as const
  const notMe = { url: text('notMeUrl'), until }
  const noPassword = { ...requested, template: 'no-password-to-reset' } as const
  const kept = { chosen: [], days: 30, until }
  const withdrawal = { userName, requestedAt: at, scheduledCompletion: until, kept }
  const all: { [Name in Message['template']]: Extract<Message, { template: Name }>[] } = {
    'verify-new-email': [
      { ...verify, firstMethod: 'email_code' },
      { ...verify, firstMethod: 'email_link' },
      { ...verify, firstMethod: 'email_code', validMs: 0 },
      { ...verify, firstMethod: 'email_code', isOwn: true },
      { ...verify, firstMethod: 'email_link', isOwn: true },
    ],
    'email-changed': [true, false].flatMap((hasPassword) => [
      { ...change, hasPassword, changedAt: at, notMe: null },
      { ...change, hasPassword, changedAt: at, notMe },
    ]),
    'email-changed-unproven': [
      {
        template: 'email-changed-unproven',
        oldEmail: text('oldEmail'),
        newEmailMasked: text('newEmailMasked'),
        changedAt: at,
      },
    ],
    'email-change-requested': [
      { hasPassword: true, currentEmail: text('currentEmail'), newEmailMasked: text('newEmailMasked') },
      { hasPassword: false, currentEmail: text('currentEmail'), newEmailMasked: text('newEmailMasked') },
      // Masked, both look alike.
      { hasPassword: true, currentEmail: 'kim@example.test', newEmailMasked: 'k••••@example.test' },
    ].map((addresses) => ({ ...person, template: 'email-change-requested', ...addresses, requestedAt: at, notMe })),
    'email-reverted': (['stopped', 'restored'] as const).flatMap((outcome) =>
      (['old', 'new'] as const).flatMap((to) =>
        [true, false].map((hasPassword) => ({
          ...{ ...person, template: 'email-reverted' as const, to, hasPassword, revertedAt: at, outcome },
          ...{ email: text('email'), newEmail: text('newEmail') },
          heldUntil: to === 'old' && outcome === 'restored' ? until : null,
        })),
      ),
    ),
    'password-changed': [
      { ...person, template: 'password-changed', isVerified: true, changedAt: at, keepsBrowser: true },
      { ...person, template: 'password-changed', isVerified: true, changedAt: at, keepsBrowser: false },
    ],
    'new-device': [true, false].flatMap((hasPassword) => {
      const one = { template: 'new-device' as const, userName, hasPassword, signedInAt: at }
      return [
        { ...one, details: { userAgent: text('userAgent'), ipAddress: text('ipAddress'), notMe } },
        { ...one, details: null },
      ]
    }),
    'new-devices': [true, false].flatMap((hasPassword) => {
      const many = { template: 'new-devices' as const, userName, hasPassword, firstAt: at, lastAt: until }
      const signIns = [{ userAgent: '', ipAddress: text('ipAddress') }]
      return [
        { ...many, signIns, more: 3, notMe },
        { ...many, signIns, more: 0, notMe: null },
        { ...many, signIns: [], more: 4, notMe: null },
      ]
    }),
    'password-reset': [{ ...requested, template: 'password-reset', link: text('link'), endsAt: until }],
    'no-password-to-reset': [
      { ...noPassword, provider: text('provider') },
      { ...noPassword, provider: null },
    ],
    'withdrawal-requested': [{ ...requested, template: 'withdrawal-requested', link: text('link'), endsAt: until }],
    'withdrawal-by-sign-in': [{}, { heldUntil: until }, { linkFrom: until }].map((ends) => ({
      ...requested,
      template: 'withdrawal-by-sign-in',
      heldUntil: null,
      linkFrom: null,
      ...ends,
      settingsUrl: text('settingsUrl'),
    })),
    'undo-before-withdrawal': [{ ...requested, template: 'undo-before-withdrawal', changedAt: at, notMe }],
    'data-exported': [true, false].map((hasPassword) => ({
      ...{ ...person, template: 'data-exported', hasPassword, exportedAt: at, settingsUrl: text('settingsUrl') },
    })),
    'access-token-created': [true, false].map((hasPassword) => ({
      ...{ template: 'access-token-created', ...person, hasPassword, createdAt: at, tokensUrl: text('tokensUrl') },
      ...{ tokenName: text('tokenName'), scopes: ['email:manage', 'account:manage'], expiresAt: until },
    })),
    'account-withdrawal-started': WAYS.flatMap((way) => {
      const started = { ...withdrawal, template: 'account-withdrawal-started' as const, way }
      const followed = { ...started, progressUrl: text('progressUrl') }
      return [
        { ...followed, receipt: 'a.b.c' },
        { ...followed, receipt: null, kept: { ...kept, chosen: ['analytics', 'audit_logs'] } },
      ]
    }),
    'account-withdrawal-told': WAYS.map((way) => ({
      ...withdrawal,
      template: 'account-withdrawal-told',
      way,
    })),
  }
  return Object.values(all).flat()
}

const SAMPLES = everyMessage((name) =>
  /link|url/i.test(name) ? `https://accounts.test/page#of=1&token=${name}` : `"${name}" & <co>`,
)

test('the subjects of a verification and of the notice about it are exact', async () => {
  const [verification] = SAMPLES
  const letters = await Promise.all(
    [verification as Message, changed()].map((one) => renderMessage(one, null, settings)),
  )
  expect(letters.map(({ subject }) => subject)).toEqual(['Verify Your New Email Address', 'Email Address Changed'])
})

/** Names that mail programs make a link of, or that hide one from a look at the bare text. */
const LINKS = [
  'You won! http://evil.example/win',
  'evil.example',
  'Ada www.evil.example Lovelace',
  'HTTPS://EVIL.EXAMPLE',
  'evil。example',
  'evil．example',
  'evil.\u00adexample',
  'evil\u200b.example',
  'ｅｖｉｌ.ｅｘａｍｐｌｅ',
  'evil.xn--p1ai',
  'müll.рф',
  'mailto:bob',
  'javascript:alert(1)',
  'ada@evil',
  '//evil',
  '203.0.113.7/win',
]

test.each(LANGUAGES)(
  'B67 no letter in %s shows a name that carries a link, and each greets without it',
  async (language) => {
    const { greetingNobody } = (await textsIn(language)).Mails.letter
    for (const message of SAMPLES.filter((message) => 'userName' in message)) {
      for (const userName of LINKS) {
        const { subject, html, text } = await renderMessage({ ...message, userName }, language, settings)
        for (const part of [subject, html, text]) expect(part).not.toContain(userName)
        expect(text).toContain(greetingNobody)
      }
    }
  },
)

test('B67 a name with dots or joiners that make no link is greeted', async () => {
  for (const userName of [
    'Dr. J.R.R. Tolkien',
    'Ada Lovelace Jr.',
    'No. 5',
    'Ada…',
    'Ann/Bob',
    '李',
    'می‌خواهم',
    'Ph. D. Ada',
  ]) {
    expect((await renderMessage(changed({ userName }), null, settings)).text).toContain(`Hello ${userName},`)
  }
})

const newToken = everyMessage((name) => name).find(({ template }) => template === 'access-token-created') as Message
const named = (tokenName: string) => renderMessage({ ...newToken, tokenName } as Message, 'en', settings)

test('B67 the letter of an access token shows a dash for a name that carries a link, and any other in one line, cut if it is long', async () => {
  for (const name of [...LINKS, 'a\u202eb', 'a\nb']) expect((await named(name)).text).toContain('\nName: –\n')
  const { html, text } = await named('<b>שלום</b>')
  expect(text).toContain('\nName: <b>שלום</b>\n')
  expect(html).toContain('&lt;b&gt;שלום&lt;/b&gt;')
  expect((await named('x'.repeat(100))).text).toContain(`\nName: ${'x'.repeat(79)}…\n`)
})

test.each(LANGUAGES)(
  'the letter of an access token names its permissions in %s as the settings do',
  async (language) => {
    const { scopes } = (await textsIn(language)).AccessTokens
    const { text } = await renderMessage(newToken, language, settings)
    expect(text).toContain(`${scopes.email} · ${scopes.account}`)
  },
)

const PASSWORD = /password|passwort|mot de passe|contraseña|senha|パスワード/i

test.each(LANGUAGES)('letters speak in %s of a password to people with one, and to nobody else', async (language) => {
  const letters = SAMPLES.filter((message) => 'hasPassword' in message)
  for (const message of letters) {
    const { html } = await renderMessage({ ...message, hasPassword: false }, language, settings)
    expect(html).not.toMatch(PASSWORD)
  }
  const toOwner = letters.filter((message) => {
    switch (message.template) {
      case 'email-reverted':
        return message.to === 'old'
      case 'new-device':
        return message.details !== null
      case 'data-exported':
      case 'access-token-created':
        return true
      default:
        return message.notMe !== null
    }
  })
  for (const message of toOwner) {
    const { html } = await renderMessage({ ...message, hasPassword: true }, language, settings)
    expect(html).toMatch(PASSWORD)
  }
})

test.each(LANGUAGES)(
  'every letter in %s is written as the library would write it, in its own language',
  async (language) => {
    const foreign = LANGUAGES.filter((other) => other !== language)
    for (const by of [settings, acme]) {
      for (const message of SAMPLES) {
        const { subject, html, text } = await renderMessage(message, language, by)
        expect({ html: withoutPreview(html), text }).toEqual(
          await renderedByTheLibrary(await filled(message, language, by)),
        )
        expect(html).toContain('<html dir="ltr" lang=')
        expect(new Set(html.match(/ lang="[^"]*"/g))).toEqual(new Set([` lang="${language}"`]))
        for (const part of [subject, html, text]) {
          // No key of a missing text, no empty value and no mark of an unfilled value.
          expect(part).not.toMatch(/Mails\.|undefined|NaN|[\uE000\uE001]|<\/?(?:support|b|link)>/)
        }
        expect(text).not.toMatch(/[{}]/)
        for (const other of foreign) {
          const group = letterOf(message, await wordingIn(language), by).name
          const theirs: Record<string, Record<string, string>> = (await textsIn(other)).Mails
          expect(text).not.toContain(theirs[group]?.intro ?? theirs[group]?.reason)
        }
      }
    }
  },
)

test('every text of the mails is used in some letter', async () => {
  const used = new Set<string>()
  for (const hasPasswordSignIn of [true, false]) {
    for (const message of SAMPLES) {
      const { subject, html } = await renderMessage(message, 'en', { ...settings, hasPasswordSignIn })
      const shown = plain(subject + html)
      for (const [key, source] of flatten(ENGLISH.Mails as Texts)) {
        // The longest part without values and tags.
        const [part = ''] = source.split(/[{<][^}>]*[}>]/).toSorted((one, other) => other.length - one.length)
        if (shown.includes(plain(part))) used.add(key)
      }
    }
  }
  expect(flatten(ENGLISH.Mails as Texts).filter(([key]) => !used.has(key))).toEqual([])
})

/** Members that choose between texts. All others are values. */
const CHOICES = ['template', 'firstMethod', 'to', 'outcome', 'way', 'chosen', 'scopes']
/** Values that a letter is given and does not show, each with the reason. */
const UNSHOWN: Record<string, string> = {
  'account-withdrawal-started receipt': 'it is a file',
  'email-reverted userName': "the new address does not learn the owner's name",
  'email-reverted newEmail': 'only the owner is told which address was taken away',
  'email-reverted ipAddress': 'the new address does not learn where the owner is',
  'verify-new-email currentEmail': 'the own address is the new one too',
}

/** The message with each of its values changed, one at a time. */
const variantsOf = <Of extends object>(message: Of): { name: string; shown?: string; variant: Of }[] =>
  Object.entries(message).flatMap(([name, value]) => {
    if (CHOICES.includes(name)) return []
    const variant = (changed: unknown) => ({ ...message, [name]: changed })
    if (value instanceof Date) return [{ name, variant: variant(new Date(value.getTime() + 50 * 3_600_000)) }]
    if (typeof value === 'number') return [{ name, variant: variant(value + 3_600_000) }]
    if (typeof value === 'string') {
      return [{ name, shown: `${value}.x`, variant: variant(`${value}.x`) }]
    }
    if (value === null || typeof value !== 'object') return []
    return variantsOf(value).map((inner) => ({
      ...inner,
      name: `${name}.${inner.name}`,
      variant: variant(Array.isArray(value) ? Object.values(inner.variant) : inner.variant),
    }))
  })

test.each(SAMPLES)('each value that $template is given stands in its html and in its text', async (message) => {
  const before = await renderMessage(message, 'en', settings)
  const variants = variantsOf(message)
  expect(variants.length).toBeGreaterThan(1)
  const unshown: string[] = []
  for (const { name, shown = '', variant } of variants) {
    const { html, text } = await renderMessage(variant, 'en', settings)
    const isShown =
      withoutPreview(html) !== withoutPreview(before.html) &&
      withoutPreview(html).includes(escapeHtml(shown)) &&
      text !== before.text &&
      text.includes(shown)
    if (!isShown) unshown.push(`${message.template} ${name}`)
  }
  // People read the browser and the system of a user agent.
  expect(unshown.filter((name) => !name.endsWith('userAgent') && !Object.hasOwn(UNSHOWN, name))).toEqual([])
})

test('B111 the letter about a deletion carries the acceptance as a file, and says so; without it, it says where it is', async () => {
  const started = SAMPLES.filter((message) => message.template === 'account-withdrawal-started')
  for (const message of started) {
    const { files, text } = await renderMessage(message, 'en', settings)
    const file = { name: 'deletion-receipt.jws', type: 'application/jose', content: message.receipt }
    expect(files).toEqual(message.receipt === null ? [] : [file])
    expect(text).toContain(message.receipt === null ? 'You can save it on the progress page' : 'deletion-receipt.jws')
  }
})

test.each(LANGUAGES)(
  'B110 the letters about a deletion tell in %s the second, its zone and the way',
  async (language) => {
    for (const template of ['account-withdrawal-started', 'account-withdrawal-told']) {
      const letters = SAMPLES.filter(
        (message) => message.template === template && !('receipt' in message && !message.receipt),
      )
      const texts = await Promise.all(letters.map(async (one) => (await renderMessage(one, language, settings)).text))
      expect(new Set(texts).size).toBe(WAYS.length)
      for (const text of texts) expect(text).toMatch(/9:12:00\sUTC/)
    }
  },
)

test.each(LANGUAGES)(
  'B112 the letters about a deletion name in %s the authority, if there is one',
  async (language) => {
    const withdrawals = SAMPLES.filter((message) => message.template.startsWith('account-withdrawal'))
    for (const message of withdrawals) {
      const { html, text } = await renderMessage(message, language, settings)
      expect(html).toContain('href="https://authority.test/complain"')
      expect(text).toContain('Data Protection Office')
      expect((await renderMessage(message, language, acme)).html).not.toContain('authority')
    }
  },
)

test('each link that the service writes opens a page or a call', () => {
  const files = ['domain', 'server'].flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.test)\.ts$/.test(name))
      .map((name) => readFileSync(`${directory}/${name}`, 'utf8')),
  )
  const paths = files.flatMap((file) =>
    [...file.matchAll(/\$\{(?:\w+\.)*appUrl\}(\/(?!api\/auth\/)[^#?`;]*)/g)].map(([, path]) => `${path}`),
  )
  expect(paths).toEqual(expect.arrayContaining(['/verify-email', '/not-me', '/forgot-password']))
  const filesOf = (path: string) => globSync(`app${path.replaceAll(/\$\{[^}]*\}/g, '[[]*]')}/{page.tsx,route.ts}`)
  expect(paths.filter((path) => filesOf(path).length === 0)).toEqual([])
})

const plain = (html: string) => html.replaceAll(/<!-- -->|<[^>]*>/g, '').trim()

test('numbers and times follow the language, and a time names its zone', async () => {
  const [verification] = SAMPLES
  const [withdrawal] = SAMPLES.filter(({ template }) => template === 'account-withdrawal-started')
  const facts = async (language: string) => {
    const both = [verification, withdrawal] as Message[]
    const letters = await Promise.all(both.map((message) => renderMessage(message, language, settings)))
    const texts = letters.map(({ text }) => text)
    return texts.join(' ').replaceAll(/\s/g, ' ')
  }
  const expected = {
    en: ['expires in 1.5 hours, on 27 November 2026 at 09:12 UTC', '27 November 2026 at 09:12 UTC', '30 days'],
    de: ['funktionieren noch 1,5 Stunden', '27. November 2026 um 09:12 UTC', '30 Tage'],
    fr: ['dans 1,5 heure', '27 novembre 2026 à 09:12 UTC', '30 jours'],
    es: ['en 1,5 horas', '27 de noviembre de 2026', ' 9:12 UTC', '30 días'],
    'pt-BR': ['em 1,5 hora', '27 de novembro de 2026 às 09:12 UTC', '30 dias'],
    ja: ['1.5時間（2026年11月27日 9:12 UTCまで）です', '2026年11月27日 9:12 UTC', '30日'],
  } satisfies Record<Language, string[]>
  for (const [language, parts] of Object.entries(expected)) {
    const text = await facts(language)
    for (const part of parts) expect(text).toContain(part)
  }
})

test.each<[string | null, Language]>([
  ['de', 'de'],
  ['de-AT', 'de'],
  ['pt-PT', 'pt-BR'],
  ['tlh', 'fr'],
  [null, 'fr'],
])('an account with the locale %s reads %s where DEFAULT_LOCALE is fr', async (locale, language) => {
  const { subject, html } = await renderMessage(changed(), locale, { ...settings, defaultLanguage: 'fr' })
  expect(html).toContain(`lang="${language}"`)
  expect(subject).toBe((await textsIn(language)).Mails.emailChanged.subject)
})

test("letters have the product's name and look, and none then says User Account Service", async () => {
  for (const language of LANGUAGES) {
    for (const message of SAMPLES) {
      const { subject, html, text } = await renderMessage(message, language, acme)
      expect(subject + html + text).not.toMatch(/User Account Service|example\.com|support@/)
      expect(html).toContain('Acme &amp; Söhne')
      expect(html).toContain('src="https://accounts.test/brand/logo"')
      expect(html).toMatch(/\.accent \{ color: #(?!9dbdff)[0-9a-f]{6} !important/)
      expect(html).not.toMatch(/#1f4fc4|#9dbdff/)
      if (text.includes('help@acme.test')) expect(text).toContain('https://acme.test/help')
    }
  }
  const { html } = await renderMessage(changed(), 'en', settings)
  expect(html).toContain('User Account Service')
  expect(html).not.toMatch(/<img|brand\/logo/)
})

test.each(LANGUAGES)(
  'in %s, the subject says whether an own address is verified, and the letter of an undo names the removed address',
  async (language) => {
    const subjectOf = async (isOwn: boolean) => {
      const verification = SAMPLES.find((message) => message.template === 'verify-new-email' && message.isOwn === isOwn)
      return (await renderMessage(verification as Message, language, settings)).subject
    }
    expect(await subjectOf(true)).not.toBe(await subjectOf(false))
    const undone = SAMPLES.filter((message) => message.template === 'email-reverted')
    for (const message of undone) {
      const { text } = await renderMessage(message, language, settings)
      expect(text.includes(message.newEmail)).toBe(message.to === 'old')
    }
  },
)

test.each(LANGUAGES)(
  'B120 in %s, a code stands first in the preview, and first in each subject that service.md does not fix',
  async (language) => {
    const verifications = everyMessage((name) => (name === 'code' ? '042137' : name)).filter(
      (message) => message.template === 'verify-new-email',
    )
    for (const message of verifications) {
      const { subject, html } = await renderMessage(message, language, acme)
      expect(html).toMatch(/<div style="display:none[^>]*>042137/)
      if (language === 'en' && !message.isOwn) expect(subject).toBe('Verify Your New Email Address')
      else expect(subject).toMatch(/^042137 .*Acme & Söhne/)
    }
  },
)

test.each(LANGUAGES)(
  'B121 in %s, every letter about a call tells its time with the zone, its browser, its system and its IP address',
  async (language) => {
    const calls = everyMessage((name) => (name === 'userAgent' ? FIREFOX : name)).filter(
      (message) =>
        ('userAgent' in message || ('details' in message && message.details)) &&
        !(message.template === 'email-reverted' && message.to === 'new'),
    )
    expect(new Set(calls.map(({ template }) => template)).size).toBe(12)
    for (const message of calls) {
      const { html, text } = await renderMessage(message, language, settings)
      for (const part of [html, text]) {
        expect(part).toMatch(/\D9:12\sUTC|\D09:12\sUTC/)
        expect(part).toMatch(/Firefox.{1,7}Linux/)
        expect(part).toContain('ipAddress')
      }
    }
  },
)

test('B121 a letter names the system alone, says that it knows neither, or leaves out what is not there, and says that support did it', async () => {
  const device = async (userAgent: string) => {
    const { text } = await renderMessage(changed({ userAgent }), null, settings)
    return /^Device: (.*)$/m.exec(text)?.[1]
  }
  expect(await device('Shop/3.1 (iPhone; iOS 18.2)')).toBe('iPhone')
  expect(await device('node')).toBe('Unknown browser or program')
  expect(await device('')).toBeUndefined()
  const { html, text } = await renderMessage(changed({ userAgent: '', ipAddress: '' }), null, settings)
  expect(text).toContain('How: By our support team, on your behalf.')
  for (const part of [html, text]) expect(part).not.toMatch(/Device:|IP address:|–/)
})

test('B121 the letter about a new password tells an address that was never verified no name, browser and IP address', async () => {
  const origin = { changedAt: new Date('2026-11-20T09:00:00Z'), ipAddress: '192.0.2.1', userAgent: FIREFOX }
  const message = { template: 'password-changed', userName: '', isVerified: false, keepsBrowser: true } as const
  const { html, text } = await renderMessage({ ...message, ...origin }, null, settings)
  for (const part of [html, text]) {
    expect(part).toContain('09:00 UTC')
    expect(part).not.toMatch(/Firefox|192\.0\.2\.1|Ada|support team/)
  }
})

test('every template has the values that `npm run emails` shows it with', async () => {
  const files = globSync('emails/*.tsx').map((file) => file.slice('emails/'.length, -'.tsx'.length))
  const templates = await Promise.all(
    files.map(async (file) => ({ file, ...(await import(`../../emails/${file}.tsx`)) })),
  )
  for (const { file, default: template } of templates) {
    if (!template) continue
    // A text without one of its values throws.
    expect(await render(createElement(template, template.PreviewProps)), file).toContain('Corner Shop')
  }
})

test('code or link comes first, as the person asked', async () => {
  const [codeFirst, linkFirst] = await Promise.all(
    SAMPLES.slice(0, 2).map((message) => renderMessage(message, 'en', settings)),
  )
  const isCodeFirst = ({ html }: { html: string }) => html.indexOf('id="code"') < html.indexOf('class="action"')
  expect([codeFirst, linkFirst].map((message) => message && isCodeFirst(message))).toEqual([true, false])
  // The plain text part has no button before the link.
  expect([codeFirst?.html.includes('Or open'), codeFirst?.text.includes('Or open')]).toEqual([true, false])
})

// React leaves out the marks between texts where a text is empty.
const withoutMarks = (html: string) => withoutPreview(html).replaceAll('<!-- -->', '')

test.each(everyMessage(() => ''))('no part of $template depends on whether a text is empty', async (message) => {
  const { html } = await renderMessage(message, null, settings)
  expect(withoutMarks(html)).toBe(withoutMarks(await render(await filled(message))))
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
