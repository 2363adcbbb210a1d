import { expect, test } from 'vitest'
import { keyOfAddress } from '@/domain/mail/mail-deliveries'
import { addressesIn } from './mailbox'

const ADA = 'ada@example.org'

test.each([
  [ADA, ADA],
  [`<${ADA}>`, ADA],
  [`Ada <${ADA}>`, ADA],
  [`"Ada "the first" <x@y.test>" <${ADA}>`, ADA],
  [`"ada"@example.org`, ADA],
  [`Ada (of (the) Byrons) <${ADA}> (work)`, ADA],
  [`${ADA} (a comment, \\) with <x@y.test>)`, ADA],
  [`(a comment) ${ADA}`, ADA],
  [` ada @ example.org\t`, ADA],
  [`<@one.test,@two.test:${ADA}>`, ADA],
  [`@one.test:${ADA}`, ADA],
  ['n@b\\x{FC}cher.example', 'n@xn--bcher-kva.example'],
  ['n@b\u00fccher.example', 'n@xn--bcher-kva.example'],
  ['ada+2Bnews@example.org', 'ada+news@example.org'],
  ['+3Cada@example.org+3E', ADA],
  ['ada+ab@example.org', 'ada+ab@example.org'],
  ['"a..b."@docomo.ne.jp', 'a..b.@docomo.ne.jp'],
])('B72 the mailbox %s is of %s', (mailbox, address) => {
  expect(addressesIn(mailbox).map(keyOfAddress)).toContain(address)
})

test.each([
  [''],
  ['Ada'],
  [null],
  [{}],
  ['\\x{110000}'],
  [`${'('.repeat(100_000)}${ADA}`],
  ['"<'],
  [`${ADA.repeat(1000)}`],
])('%j is of nobody', (mailbox) => {
  expect(addressesIn(mailbox)).toEqual([])
})
