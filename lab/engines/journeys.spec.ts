import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster } from '@/testing/cluster'
import { Instance } from '@/testing/instance'
import { keptMailsTo } from '@/testing/kept-mails'
import { textsOf } from '@/testing/message-texts'
import { createAccount, Operator } from '@/testing/operator'
import { until } from '@/testing/until'
import { Browser, type EngineName } from './browser'

const t = textsOf('en')
const PASSWORD = 'correct horse battery'
const ENGINES = (process.env.ENGINES ?? '').split(',').filter(Boolean) as EngineName[]

let cluster: Cluster
let instance: Instance
let operator: Operator
/** The origin in the links of mails. */
let origin: string
const ends: (() => unknown)[] = []

beforeAll(async () => {
  cluster = await Cluster.start({ onTestFinished: (end) => void ends.push(end as () => unknown) })
  const settings = {
    DATA_DIR: cluster.dataDir,
    DATABASE_URL: cluster.place.databaseUrl,
    // The seven days pass in twelve seconds.
    WITHDRAWAL_TIME_SCALE: '0.00002',
  }
  instance = await Instance.start(settings)
  origin = instance.url.replace('127.0.0.1', 'localhost')
  operator = new Operator(settings)
})
afterAll(async () => {
  await operator.close()
  await instance.stop()
  for (const end of ends) await end()
})

/** The first match in the newest message to the address. */
const inMail = (to: string, pattern: RegExp) =>
  until(`a message to ${to} with ${pattern}`, async () => {
    const mails = await keptMailsTo(to, cluster.dataDir)
    return mails.findLast(({ text }) => pattern.test(text))?.text.match(pattern)?.[0]
  })
const CODE = /\b\d{6}\b/
const linkTo = (page: string) => new RegExp(`http[^\\s<>"]*/${page}[^\\s<>"]*`)

let count = 0
async function givenUser() {
  const email = `ada-${++count}@example.test`
  return { id: await createAccount(operator, { email, password: PASSWORD, name: 'Ada Lovelace' }), email }
}

async function signIn(browser: Browser, email: string) {
  await browser.goto(`${origin}/sign-in`)
  await browser.forget()
  await browser.goto(`${origin}/sign-in`)
  await browser.fill(t.SignIn.email, email)
  await browser.fill(t.SignIn.password, PASSWORD)
  await browser.press(t.Common.signIn)
  await browser.sees(t.EmailSettings.currentTitle)
}

async function requestChange(browser: Browser, newEmail: string) {
  await browser.press(t.EmailSettings.changeTitle)
  await browser.fill(t.EmailSettings.newEmail, newEmail)
  await browser.fill(t.Identity.currentPassword, PASSWORD)
  await browser.press(t.EmailSettings.submit)
  await browser.sees(t.EmailSettings.pendingTitle)
}

describe.each(ENGINES)('in %s', (name) => {
  let browser: Browser
  beforeAll(async () => {
    browser = await Browser.open(name)
  })
  afterAll(() => browser?.close())

  test('a person changes the address with the mailed code, which needs no press of a button', async () => {
    const { email } = await givenUser()
    await signIn(browser, email)
    await requestChange(browser, `new-${email}`)
    await browser.type(await inMail(`new-${email}`, CODE))
    await browser.sees(t.EmailSettings.changedTitle.replace('{email}', `new-${email}`))
  })

  test('a person changes the address with the mailed link, and not before its button is pressed', async () => {
    const { email } = await givenUser()
    await signIn(browser, email)
    await requestChange(browser, `new-${email}`)
    await browser.goto(await inMail(`new-${email}`, linkTo('verify-email')))
    await browser.sees(email)
    await browser.press(t.VerifyEmail.confirm)
    await browser.sees(t.VerifyEmail.changedTitle)
    expect(await browser.address()).not.toMatch(CODE)
    await browser.goto(`${origin}/settings/email`)
    await browser.sees(`new-${email}`)
  })

  test('the owner of the old address undoes a change with “This wasn’t me”', async () => {
    const { email } = await givenUser()
    await signIn(browser, email)
    await requestChange(browser, `thief-${email}`)
    await browser.type(await inMail(`thief-${email}`, CODE))
    await browser.sees(t.EmailSettings.changedTitle.replace('{email}', `thief-${email}`))
    await browser.goto(await inMail(email, linkTo('not-me')))
    await browser.sees(t.NotMe.undoTitle)
    await browser.fill(t.NewPassword.label, 'a new password of mine')
    await browser.press(t.NotMe.undo)
    await browser.sees(t.NotMe.undone)
  })

  test('a person deletes the account, watches it to the end, and the receipts are genuine', async () => {
    const { email } = await givenUser()
    await signIn(browser, email)
    await browser.goto(`${origin}/settings/withdraw`)
    await browser.fill(t.DeleteAccount.phraseLabel.replace('{phrase}', t.DeleteAccount.phrase), t.DeleteAccount.phrase)
    await browser.fill(t.Identity.currentPassword, PASSWORD)
    await browser.press(t.DeleteAccount.confirm)
    await browser.sees(t.Deletion.progressTitle)
    await browser.sees(t.Deletion.deletedText, 60_000)
    const { pathname, hash } = new URL(await browser.address())
    const answer = await fetch(`${origin}/api/v1/withdrawals/${pathname.split('/').at(-1)}/receipts`, {
      headers: {
        Authorization: `Bearer ${new URLSearchParams(hash.slice(1)).get('token')}`,
        'X-Required-Scope': 'account:manage',
      },
    })
    const { receipts } = ((await answer.json()) as { data: { receipts: { receipt: string }[] } }).data
    expect(receipts.length).toBeGreaterThan(1)
    await browser.goto(`${origin}/receipt`)
    await browser.paste(t.Receipts.receipt, receipts.map(({ receipt }) => receipt).join('\n'))
    await browser.sees(t.Receipts.technical)
    expect((await browser.text()).split(`${t.Receipts.technical}\n`).length - 1).toBe(receipts.length)
  })
})
