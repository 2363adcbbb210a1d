import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startReauthentication } from '@/contract/access'
import { ERRORS, RULES } from '@/contract/errors'
import { LANGUAGES, type Language } from '@/contract/languages'
import { FRESH_SIGN_IN_MS, minute, PASSWORD_RESET_MS, REAUTHENTICATION_LIFETIME_MS } from '@/domain/limits/durations'
import { compileCatalogue, ENGLISH, flatten, parametersFor, parametersOf, sourceOf, type Texts } from './catalogue'

const english = new Map(flatten(ENGLISH))

test.for(LANGUAGES)('%s has every text, no other, and each takes the same values', async (language) => {
  const texts = new Map(flatten(await sourceOf(language)))
  expect([...texts.keys()].sort()).toEqual([...english.keys()].sort())
  const different = [...texts].filter(([key, text]) => {
    const ours = english.get(key) ?? ''
    return ![parametersOf(ours), parametersFor(key, ours)].map(String).includes(String(parametersOf(text)))
  })
  expect(different.map(([key]) => key)).toEqual([])
})

/** Texts that read the same in English, each with the reason. */
const AS_IN_ENGLISH: Record<string, string> = {
  'Mails.letter.endsAt': 'values only',
  'Receipts.appLine': 'values only',
  'de AccessTokens.name': 'the German word',
  'de Common.support': 'the word of the field',
  'de Mails.accessTokenCreated.name': 'the German word',
  'es Common.sections.accessTokensShort': 'the word of the field',
  'fr Common.sections.sessions': 'the French word',
  'fr Deletion.categories.sessions': 'the French word',
  'fr Deletion.categories.transactions': 'the French word',
  'fr DeletionPage.categories.sessions': 'the French word',
  'fr DeletionPage.categories.transactions': 'the French word',
  'fr Sessions.title': 'the French word',
  'pt-BR Common.sections.accessTokensShort': 'the word of the field',
}

test('no text of another language is left in English, but for words that both have', async () => {
  const same = new Set<string>()
  for (const language of LANGUAGES.filter((one) => one !== 'en')) {
    for (const [key, text] of flatten(await sourceOf(language))) {
      if (text !== english.get(key)) continue
      same.add(Object.hasOwn(AS_IN_ENGLISH, key) ? key : `${language} ${key}`)
    }
  }
  expect([...same].toSorted()).toEqual(Object.keys(AS_IN_ENGLISH).toSorted())
})

/** Each language has one word for an app, and here is its other one. */
const OTHER_WORD_FOR_APP: Partial<Record<Language, RegExp>> = {
  en: /\bapplication/i,
  de: /Anwendung|Applikation/,
  fr: /(?<![{\w])apps?\b/i,
  es: /aplicaci/i,
  'pt-BR': /aplicativo/i,
}

test.for(LANGUAGES)('%s calls an app by one word', async (language) => {
  const other = OTHER_WORD_FOR_APP[language] ?? /アプリケーション/
  const texts = flatten(await sourceOf(language)).filter(([, text]) => other.test(text))
  expect(texts.map(([key]) => key)).toEqual([])
})

test.for(LANGUAGES)('%s ends no link with the full stop of its sentence', async (language) => {
  const texts = flatten(await sourceOf(language)).filter(([, text]) => /[.。]<\/(?!b>|strong>|li>|list>)/.test(text))
  expect(texts.map(([key]) => key)).toEqual([])
})

const TEN_MINUTES: Record<Language, RegExp> = {
  en: /ten minutes/,
  de: /zehn Minuten/,
  fr: /dix minutes/,
  es: /diez minutos/,
  'pt-BR': /dez minutos/,
  ja: /10 ?分/,
}

/** Japanese texts leave out the space that the formatter puts before a unit. */
const withoutSpaces = (text = '') => text.replace(/\s/g, '')

test.for(LANGUAGES)(
  '%s states how fresh a sign-in must be and how long a link for a new password works',
  async (language) => {
    expect(FRESH_SIGN_IN_MS, 'The texts below say ten minutes.').toBe(10 * minute)
    const texts = new Map(flatten(await sourceOf(language)))
    for (const key of ['DeleteAccount.confirmAgain', 'Errors.codes.REAUTH_001']) {
      expect(texts.get(key), key).toMatch(TEN_MINUTES[language])
    }
    const format = new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'long' })
    for (const key of ['Passwords.noLongerText', 'Passwords.sentText']) {
      expect(withoutSpaces(texts.get(key)), key).toContain(withoutSpaces(format.format(PASSWORD_RESET_MS / minute)))
    }
  },
)

test('the answers of the API say within which time a person must sign in again', () => {
  expect([FRESH_SIGN_IN_MS, REAUTHENTICATION_LIFETIME_MS]).toEqual([10 * minute, 10 * minute])
  expect(ERRORS.REAUTH_001.details).toContain('within ten minutes')
  expect(startReauthentication.message).toContain('within ten minutes')
})

test("an adopter's own text stands in place of ours, and every other text stays", async () => {
  const [ours, theirs] = [
    await compileCatalogue('de'),
    await compileCatalogue('de', { Common: { signIn: 'Eintreten' } }),
  ]
  expect(theirs).toEqual({ ...ours, Common: { ...ours.Common, signIn: 'Eintreten' } })
})

test('the areas of the texts, and the texts of an area, are in alphabetical order', () => {
  const areas = Object.entries(ENGLISH)
  expect(areas.map(([area]) => area)).toEqual(areas.map(([area]) => area).toSorted())
  for (const [, texts] of areas) expect(Object.keys(texts)).toEqual(Object.keys(texts).toSorted())
})

test('a compiled text with a choice consists of plain objects, the only ones that go to a client component', async () => {
  const texts = { Blockers: { title: '{count, plural, one {one thing} other {# things}}' } }
  const foreign: unknown[] = []
  const look = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) foreign.push(value)
    Object.values(value).forEach(look)
  }
  look(await compileCatalogue('en', texts))
  expect(foreign).toEqual([])
})

/** Codes that answer programs and operators only. */
const NOT_ON_PAGES = [
  'ORIGIN_001',
  'REQUEST_003',
  'REQUEST_004',
  'REQUEST_006',
  'TASK_001',
  'TASK_002',
  'USER_002',
  'USER_003',
]

test('every refusal that a page can meet has a text', () => {
  const { codes, rules } = ENGLISH.Errors as { codes: Texts; rules: Texts }
  expect([...Object.keys(codes), ...NOT_ON_PAGES].sort()).toEqual(Object.keys(ERRORS).sort())
  expect(Object.keys(rules)).toEqual(expect.arrayContaining(Object.keys(RULES)))
})

test('every text of the pages is shown somewhere', () => {
  // server/adapters/messages.test.ts looks for the texts of the mails in the letters.
  const { Mails: _, ...areas } = ENGLISH
  const files = sourcesIn('app', 'components', 'server')
  const unused = Object.entries(areas).flatMap(([area, texts]) => {
    const isNamed = namesIn(filesOf(area, files))
    return flatten(texts as Texts)
      .filter(([key]) => !isNamed(key))
      .map(([key]) => `${area}.${key}`)
  })
  expect(unused).toEqual([])
})

type File = [name: string, text: string]

const sourcesIn = (...directories: string[]): File[] =>
  directories
    .flatMap((directory) =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => path.join(directory, name)),
    )
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name))
    .map((name) => [name, readFileSync(name, 'utf8')])

const filesOf = (area: string, files: File[]) => files.filter(([, text]) => text.includes(`'${area}'`))

/** Whether a key stands in quotes, or fits a template: `steps.${step}.title`, or `${name}Title` with the name in quotes elsewhere. */
function namesIn(files: File[]): (key: string) => boolean {
  const text = files.map(([, text]) => text).join('\n')
  const whole = new Set([...text.matchAll(/'([\w.]+)'/g)].map(([, name]) => name))
  const templates = [...text.matchAll(/`((?:[\w.]|\$\{[^{}`]*\})*)`/g)]
    .map(([, template = '']) => template.split(/\$\{[^}]*\}/))
    .filter((parts) => parts.length > 1 && parts.some((part) => part !== ''))
    .map((parts) => new RegExp(`^${parts.map((part) => part.replaceAll('.', '\\.')).join('(\\w+)')}$`))
  const isMade = (key: string, template: RegExp) => {
    const first = template.exec(key)?.[1]
    return first !== undefined && (!key.startsWith(first) || whole.has(first))
  }
  return (key) => whole.has(key) || templates.some((template) => isMade(key, template))
}

test('French has no-break spaces inside its quotation marks and before : ; ? !', async () => {
  const breaking = flatten(await sourceOf('fr')).filter(([, text]) =>
    /« | »| [:;?!](?:\s|<|$)|[^\s\u202f;?!][;?!](?:\s|<|$)/.test(text),
  )
  expect(breaking.map(([key]) => key)).toEqual([])
})

test.for(LANGUAGES)('%s: no line ends between a number and the word that a hyphen joins to it', async (language) => {
  const breaking = flatten(await sourceOf(language)).filter(([, text]) => /(?<!\S)\d+-\p{L}/u.test(text))
  expect(breaking.map(([key]) => key)).toEqual([])
})

test('German has no length of time, which comes in the nominative, behind a word that asks for the dative', async () => {
  const wrong = flatten(await sourceOf('de')).filter(([, text]) =>
    /\b(von|nach|seit|vor|mit) \{(time|validity|retention)\}/.test(text),
  )
  expect(wrong.map(([key]) => key)).toEqual([])
})

test.for(LANGUAGES)('%s: the mail that leads to the settings names the entry of their menu', async (language) => {
  const texts = new Map(flatten(await sourceOf(language)))
  const entry = texts.get('Common.sections.deleteAccount') ?? 'none'
  expect(texts.get('Mails.withdrawalBySignIn.intro')).toMatch(new RegExp(`[“„«「]\\s?${entry}\\s?[”“»」]`))
})
