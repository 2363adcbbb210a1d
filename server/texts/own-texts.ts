import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isLanguage, LANGUAGES, type Language } from '@/contract/languages'
import { SettingsError } from '../settings/settings-error'
import { ENGLISH, flatten, parametersFor, parametersOf, type Texts } from './catalogue'

/** Reads the files of MESSAGES_DIR, such as de.json. Each has only the texts that replace ours. */
export function readOwnTexts(dir: string): Partial<Record<Language, Texts>> {
  const names = readOrRefuse(() => readdirSync(dir), `MESSAGES_DIR must name a directory that can be read: ${dir}.`)
  return Object.fromEntries(
    names
      .filter((name) => name.endsWith('.json'))
      .map((name) => {
        const language = name.slice(0, -'.json'.length)
        if (!isLanguage(language)) refuse(name, `it must be named after one of ${LANGUAGES.join(', ')}`)
        const text = readOrRefuse(() => readFileSync(path.join(dir, name), 'utf8'), `${name} cannot be read.`)
        return [language, checked(name, text)]
      }),
  )
}

const ENGLISH_TEXTS = new Map(flatten(ENGLISH))

function checked(name: string, json: string): Texts {
  const texts = readOrRefuse(() => JSON.parse(json) as Texts, `MESSAGES_DIR: ${name} is not JSON.`)
  if (typeof texts !== 'object' || texts === null || Array.isArray(texts)) refuse(name, 'it must be a JSON object')
  for (const [key, text] of flatten(texts)) {
    const english = ENGLISH_TEXTS.get(key)
    if (english === undefined) refuse(name, `there is no text ${key}`)
    if (typeof text !== 'string') refuse(name, `${key} must be a text`)
    const known = new Set(parametersFor(key, english))
    const used = readOrRefuse(() => parametersOf(text), `MESSAGES_DIR: ${name}: ${key} is not ICU MessageFormat.`)
    const foreign = used.filter((parameter) => !known.has(parameter))
    if (foreign.length > 0)
      refuse(name, `${key} cannot use ${foreign.join(', ')}; it takes ${[...known].join(', ') || 'nothing'}`)
  }
  return texts
}

function readOrRefuse<Value>(read: () => Value, sentence: string): Value {
  try {
    return read()
  } catch {
    throw new SettingsError(sentence)
  }
}

function refuse(name: string, why: string): never {
  throw new SettingsError(`MESSAGES_DIR: ${name}: ${why}.`)
}
