import { render, toPlainText } from 'react-email'
import { languageFor } from '@/contract/languages'
import type { Message } from '@/domain/ports'
import type { Look } from '@/emails/layout'
import { type Letter, letterOf, lookIn, type MessageSettings, textsOf, type Wording, wordingIn } from './letters'

/** Literal text at even indexes, the name of a value at odd ones. */
interface RenderedForm {
  subject: string[]
  html: string[]
  text: string[]
}

const forms = new Map<string, Promise<RenderedForm>>()

/**
 * Renders in the account's language. Each form is rendered once and then filled in, because rendering costs more than everything
 * else that a message needs.
 */
export async function renderMessage(message: Message, locale: string | null, settings: MessageSettings) {
  const language = languageFor(locale) ?? settings.defaultLanguage
  const wording = await wordingIn(language)
  const letter = letterOf(message, wording, settings)
  const { values, choices, files } = letter
  const look = lookIn(wording, settings, letter.isNamed)
  const key = JSON.stringify([message.template, choices, look])
  const form =
    forms.get(key) ??
    renderForm(letter, wording, look).catch((error) => {
      forms.delete(key)
      throw error
    })
  forms.set(key, form)
  const { subject, html, text } = await form
  return {
    subject: fill(subject, values, collapseSpace),
    html: fill(html, values, escapeHtml),
    text: fill(text, values, collapseSpace),
    files,
  }
}

async function renderForm(
  { name, subject: key, values, toElement }: Letter,
  wording: Wording,
  look: Look,
): Promise<RenderedForm> {
  const html = await render(toElement(look, marksFor(values)))
  // Each of these letters has the text that it names.
  const subject = textsOf(wording, name)(key as 'subject', { ...marksFor(values), product: look.product })
  return { subject: subject.split(MARK), html: html.split(MARK), text: toText(html).split(MARK) }
}

/** The library would write a title in capitals, put empty lines between facts, and a link to what it does without a sign between. */
export const toText = (html: string) =>
  toPlainText(html, {
    selectors: [
      { selector: 'h1', options: { uppercase: false } },
      { selector: 'p.fact', format: 'paragraph', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      { selector: 'a.action', format: 'anchor', options: { linkBrackets: ['→ ', ''] } },
    ],
  })

// Characters of the private use area, which no template contains. The values are not searched for marks.
const mark = (name: string) => `\uE000${name}\uE001`
const marksFor = (values: Letter['values']) => Object.fromEntries(Object.keys(values).map((name) => [name, mark(name)]))
const MARK = /\uE000(\w+)\uE001/

const fill = (form: string[], values: Letter['values'], as: (value: string) => string) =>
  form.map((part, index) => (index % 2 === 0 ? part : as(values[part] as string))).join('')

const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' }
export const escapeHtml = (value: string) => value.replaceAll(/[&<>"']/g, (character) => ESCAPED[character] ?? '')
const collapseSpace = (value: string) => value.replaceAll(/[ \t\r\n\f\u200B]+/g, ' ')
