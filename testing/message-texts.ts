import { readFileSync } from 'node:fs'

/** The texts of a language, as the pages and mails have them. */
export const textsOf = (language: string) =>
  JSON.parse(readFileSync(`messages/${language}.json`, 'utf8')) as typeof import('@/messages/en.json')
