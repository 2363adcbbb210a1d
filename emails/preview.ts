import type { ReactNode } from 'react'
import { createTranslator } from 'use-intl/core'
import en from '../messages/en.json'
import type { Look } from './layout'
import type { LetterTexts, Mails } from './letter-texts'
import type { Slot } from './slot'

/** The slots of a template as texts, and what else it takes beside what every letter is given. */
type Shown<Props> = {
  [Name in Exclude<keyof Props, 'look' | 't' | 'userName'>]: Props[Name] extends Slot ? string : Props[Name]
}

const textsOf = <Name extends keyof Mails>(name: Name) =>
  createTranslator({
    locale: 'en',
    messages: en,
    namespace: `Mails.${name}` as 'Mails',
    onError: (error) => {
      throw error
    },
  }) as unknown as LetterTexts<Name>

function show<Name extends keyof Mails, Props>(
  name: Name,
  _template: (props: Props) => ReactNode,
  values: Shown<Props>,
): object {
  const look: Look = {
    language: 'en',
    product: 'Corner Shop',
    productUrl: 'https://shop.example.com',
    logoUrl: null,
    accentColor: '#1f4fc4',
    accentInTheDark: '#9dbdff',
    supportEmail: 'support@shop.example.com',
    supportUrl: null,
    isNamed: true,
    t: textsOf('letter'),
  }
  return { look, t: textsOf(name), userName: 'Ada', ...values }
}

/** Of what was done from a browser. */
export const ORIGIN = {
  at: '20 November 2026 at 09:00 UTC',
  device: 'Firefox on Linux',
  ipAddress: '203.0.113.7',
  client: 'whole',
} as const

/** What the preview of `npm run emails` shows of a template. The service has properties of its own, so that no build holds this. */
export const preview: typeof show = process.env.NODE_ENV === 'production' ? () => ({}) : show
