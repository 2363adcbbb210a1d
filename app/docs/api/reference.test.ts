import { expect, test } from 'vitest'
import { search } from '@/components/docs/search'
import { operations } from '@/contract/operations'
import { BUCKET_NAMES, LIMIT_ROWS } from '@/domain/limits/limits'
import { CONTENTS, codesOf, LIMITED, MEANINGS, SUGGESTED } from './reference'
import { hasExample, sampleOf } from './samples'

/** The place that a search finds first. */
function firstOf(words: string): string | undefined {
  const [group] = search(CONTENTS, words, MEANINGS) ?? []
  return group && `${group.path}#${group.entries[0]?.id}`
}

test.each([
  ['openapi', '/docs/api#introduction'],
  ['swagger', '/docs/api#introduction'],
  ['SDK', '/docs/api#examples'],
  ['receive deletion tasks', '/docs/api/webhooks#registering'],
  ['poll', '/docs/api/tasks#takeTasks'],
  ['polling', '/docs/api/tasks#takeTasks'],
  ['receive deletion tasks without an endpoint', '/docs/api/tasks#takeTasks'],
  ['signing secret', '/docs/api/webhooks#verifying'],
  ['rotate signing secret', '/docs/api/applications#rotateAppSecret'],
  ['disown a sign-in', '/docs/api/account#disownSignIn'],
  ['pagination', '/docs/api/users#listUndeliverableUsers'],
  ['timeout', '/docs/api/webhooks#attempts'],
  ['all operations', '/docs/api#operations'],
  ['register app', '/docs/api/webhooks#registering'],
  ['register an application', '/docs/api/webhooks#registering'],
  ['error codes', '/docs/api/errors#codes'],
  ['EMAIL_003', '/docs/api/errors#EMAIL_003'],
  ['what happens when my endpoint is down', '/docs/api/webhooks#attempts'],
  ['how do I know when a deletion is done', '/docs/api/account#getWithdrawalStatus'],
  ['how often may I call', '/docs/api#limits'],
  ['bounce', '/docs/api/users#listUndeliverableUsers'],
  ['stop a deletion while an order is unpaid', '/docs/api/users#putBlocker'],
  ['email', '/docs/api/email#changeEmail'],
  ['getting started', '/docs/api#examples'],
  ['test receiver', '/docs/api/webhooks#verifying'],
  ['close my account', '/docs/api#deleting'],
  ['right to be forgotten', '/docs/api#deleting'],
  ['notify', '/docs/api/webhooks#receiving'],
  ['told', '/docs/api/webhooks#receiving'],
  ['webhook', '/docs/api/webhooks#registering'],
  ['rate', '/docs/api#limits'],
  ['429', '/docs/api#limits'],
  ['throttle', '/docs/api#limits'],
  ['login', '/docs/api#authentication'],
  ['JWT', '/docs/api#authentication'],
  ['log out', '/docs/api/access#endSession'],
  ['OTP', '/docs/api/email#verifyEmail'],
  ['takeout', '/docs/api/account#exportData'],
  ['forgot password', '/docs/api/account#requestPasswordReset'],
  ['import', '/docs/api/users#putUser'],
  ['CORS', '/docs/api/users#issuePageToken'],
  ['pageToken', '/docs/api/users#issuePageToken'],
  ['delet', '/docs/api/account#withdrawAccount'],
  ['wd_', '/docs/api/account#withdrawAccount'],
  ['wst_', '/docs/api/account#withdrawAccount'],
  ['ecr_', '/docs/api/email#changeEmail'],
  ['dtk_', '/docs/api/tasks#takeTasks'],
  ['RFC 9068', '/docs/api#authentication'],
  ['role', '/docs/api#authentication'],
  ['wrong password', '/docs/api/errors#EMAIL_007'],
  ['invalid password', '/docs/api/errors#EMAIL_007'],
  ['incorrect password', '/docs/api/errors#EMAIL_007'],
  ['invalid code', '/docs/api/errors#EMAIL_003'],
  ['wrong code', '/docs/api/errors#EMAIL_003'],
  ['expired code', '/docs/api/errors#EMAIL_004'],
  ['expired link', '/docs/api/errors#EMAIL_004'],
  ['invalid email', '/docs/api/errors#EMAIL_001'],
  ['easy to guess', '/docs/api/errors#PASSWORD_001'],
  ['forbidden', '/docs/api/errors#WITHDRAWAL_005'],
])('a search of the reference for %s leads to %s', (words, place) => {
  expect(firstOf(words)).toBe(place)
})

/** The parts that a search finds first. */
function partsOf(words: string): string[] {
  const [group] = search(CONTENTS, words, MEANINGS) ?? []
  return group?.entries.flatMap(({ parts }) => parts.map(({ id }) => id)) ?? []
}

test.each([
  ['postmark', 'receiveMailEvents.path.source'],
  ['email_link', 'changeEmail.body.verification_method'],
  ['exhausted', 'getEmailChange.data.status'],
])('a search for %s, a word that a field may be, finds %s', (word, part) => {
  expect(partsOf(word)).toContain(part)
})

test('a search with a number that the reference has not finds nothing', () => {
  expect(search(CONTENTS, 'RFC 7515', MEANINGS)).toEqual([])
})

test.each([
  ['python', "error['details']"],
  ['typescript', 'refusal.details'],
] as const)('each example in %s prints the code and the details of a refusal', (language, details) => {
  for (const one of operations.filter(hasExample)) expect(sampleOf(one, language)).toContain(details)
})

test.each(['delete', 'remove', 'erase', 'close account', 'deactivate', 'GDPR'])(
  'a search for %s finds Withdraw Account',
  (words) => {
    const found = (search(CONTENTS, words, MEANINGS) ?? []).flatMap(({ entries }) => entries.map(({ id }) => id))
    expect(found).toEqual(expect.arrayContaining(['withdrawAccount', 'withdrawUser']))
  },
)

test('a search for limit finds the codes of a limit', () => {
  const found = (search(CONTENTS, 'limit', MEANINGS) ?? []).flatMap(({ entries }) => entries.map(({ id }) => id))
  expect(found).toEqual(expect.arrayContaining(['limits', 'EMAIL_008', 'RATE_001']))
})

test('each word that is suggested where nothing is found finds something', () => {
  for (const words of SUGGESTED) expect(firstOf(words), words).toBeDefined()
})

test('a code that is found says what it means', () => {
  const [group] = search(CONTENTS, 'EMAIL_003', MEANINGS) ?? []
  expect(group?.entries[0]?.title).toBe('EMAIL_003 Invalid verification code')
})

test.each([
  ['webhok', 'webhook'],
  ['wwebhook', 'webhook'],
  ['webhouk', 'webhook'],
  ['idempotecy', 'idempotency'],
  ['webohok', 'webhook'],
])('a search finds for %s, which has one slip, what it finds for %s', (mistyped, meant) => {
  expect(firstOf(mistyped)).toBe(firstOf(meant))
})

test('a code, a short word and two wrong letters find nothing else, and no word is no search', () => {
  for (const words of ['EMAIL_999', 'quux', 'wbhok', 'xxbhook']) expect(search(CONTENTS, words, MEANINGS)).toEqual([])
  expect(search(CONTENTS, ' of the ', MEANINGS)).toBeUndefined()
})

test('where titles have the words, no error code stands among what is found, unless a code is looked for', () => {
  const partsOf = (words: string) =>
    (search(CONTENTS, words, MEANINGS) ?? []).flatMap(({ entries }) => entries.flatMap(({ parts }) => parts))
  const isCode = ({ id }: { id: string }) => /_\d{3}$/.test(id)
  expect(partsOf('change email').some(isCode)).toBe(false)
  expect(partsOf('EMAIL_003').some(isCode)).toBe(true)
  // No title has the word.
  expect(partsOf('expired').some(isCode)).toBe(true)
})

test.each(operations.filter(hasExample))('the example of $name reads no variable that has no name', (one) => {
  expect(sampleOf(one, 'curl')).not.toContain('undefined')
})

test('AUTH_002 comes on every operation that needs a scope, except on those of WITHDRAWAL_005', () => {
  for (const one of operations) {
    const codes = codesOf(one).filter((code) => code === 'AUTH_002' || code === 'WITHDRAWAL_005')
    expect(codes, one.name).toHaveLength(one.scope ? 1 : 0)
  }
})

test('every limit whose headers an answer shows is listed, except that of the sign-in page', () => {
  const listed: string[] = LIMITED.map(({ limit }) => limit)
  const shown = BUCKET_NAMES.filter((name) => LIMIT_ROWS[name].shown === 'always' && name !== 'signIn')
  expect(listed).toEqual(expect.arrayContaining(shown))
})
