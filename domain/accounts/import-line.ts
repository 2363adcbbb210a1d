import { type Address, MAX_ADDRESS_LENGTH, parseAddress } from '@/contract/address'
import { canonicalLocale, personLocale, problemOfExternalId } from '@/contract/admin'
import { AppError, type ErrorCode, parseIssueMessage, RULES } from '@/contract/errors'
import { givenTime, lineName } from '@/contract/fields'
import { acceptPassword } from '../passwords/password-formats'
import { parseStrictJson } from '../strict-json'

/** Other systems have longer names than the API takes. */
export const importedName = lineName('', 16_384)
const createdAt = givenTime('REQUEST_001: created_at must be a time such as 2024-02-29T12:00:00.000Z.')

export interface Problem {
  code: ErrorCode
  /** One sentence that names the member. */
  error: string
}

/** One line of an import. A member with a wrong value is null and has a problem. */
export interface ImportedLine {
  externalId: string | null
  address: Address | null
  emailVerified: boolean
  name: string
  locale: string | null
  createdAt: Date | null
  passwordHash: string | null
  problems: Problem[]
}

/** Reads a line and collects every problem that it has by itself. */
export function readImportLine(text: string, now: Date): ImportedLine {
  const problems: Problem[] = []
  const given = parseObject(text)
  if (typeof given === 'string') problems.push({ code: 'REQUEST_001', error: given })
  const members = typeof given === 'string' ? {} : given
  /** For a member that is absent or null: `missing` is its value or, as a string, its problem. */
  const read = <T>(name: string, missing: T | string, take: (value: unknown) => T): T | null => {
    const value = members[name]
    if (typeof given === 'string') return null
    try {
      if (value !== undefined && value !== null) return take(value)
      if (typeof missing === 'string') throw new AppError('REQUEST_001', missing)
      return missing
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push({ code: error.code, error: error.details })
      return null
    }
  }
  return {
    externalId: read<string | null>('external_id', null, takeExternalId),
    address: read<Address>('email', 'email is missing.', takeAddress),
    emailVerified: read('email_verified', false, takeBoolean) ?? false,
    name: read<{ name: string }>('name', 'name is missing.', takeName)?.name ?? '',
    locale: read<string | null>('locale', null, takeLocale),
    createdAt: read<Date | null>('created_at', null, (value) => takeTime(value, now)),
    passwordHash: read<string | null>('password', null, acceptPassword),
    problems,
  }
}

/** The object, or the problem as a sentence. */
function parseObject(text: string): Record<string, unknown> | string {
  const read = parseStrictJson(text)
  if ('problem' in read) return `The line ${read.problem}`
  const { value } = read
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : 'The line must be one JSON object.'
}

const refusal = (sentence: string) => new AppError('REQUEST_001', sentence)

function takeExternalId(value: unknown): string {
  if (typeof value !== 'string') throw refusal('external_id must be a string.')
  const problem = problemOfExternalId(value)
  if (problem) throw refusal(`external_id ${problem}`)
  return value
}

function takeAddress(value: unknown): Address {
  if (typeof value !== 'string') throw new AppError('EMAIL_001', 'email must be a string.')
  const address = parseAddress(value)
  if (!address) throw new AppError('EMAIL_001', ruleOf(value))
  return address
}

/** The rule that a refused address breaks. */
function ruleOf(text: string): string {
  const at = text.indexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (text.length > MAX_ADDRESS_LENGTH) return `email must have ${MAX_ADDRESS_LENGTH} characters at most.`
  if (/[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]/u.test(text)) return 'email must hold no space and no invisible character.'
  if (at < 0) return 'email must hold an @.'
  if (text.includes('"')) return 'email must have no quoted part.'
  if (/[<>()]/.test(text)) return 'email must be the address alone, without a name or a comment.'
  if (domain.includes('@') || /[,;]/.test(text)) return 'email must be one address.'
  if (/[%!]/.test(local)) return 'email must hold no % and no ! before the @.'
  if (/\P{ASCII}/u.test(local)) return 'email must be ASCII before the @.'
  if (local.length < 1 || local.length > 64) return 'email must have from 1 to 64 characters before the @.'
  if (domain.startsWith('[')) return 'email must have a domain, not an IP address.'
  if (domain.endsWith('.')) return 'email must not end with a dot.'
  if (!domain.includes('.')) return 'email must have a domain of two labels at least.'
  if (/(^|\.)\d+$/.test(domain)) return 'email must have a domain whose last label is no number.'
  if (domain.normalize('NFKC') !== domain) return 'email must have a domain in its normal form (NFKC).'
  return RULES.email
}

function takeBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw refusal('email_verified must be true or false.')
  return value
}

const takeName = (value: unknown) => ({ name: checked(importedName, value) })

const takeLocale = (value: unknown) => canonicalLocale(checked(personLocale, value))

/** Refuses in the words of the API. */
function checked(rule: typeof personLocale | typeof createdAt, value: unknown): string {
  const parsed = rule.safeParse(value)
  if (parsed.success) return parsed.data
  const { code, details } = parseIssueMessage(parsed.error.issues[0]?.message ?? '')
  throw new AppError(code, details)
}

function takeTime(value: unknown, now: Date): Date {
  const time = new Date(checked(createdAt, value))
  if (time > now) throw refusal('created_at must not be in the future.')
  return time
}
