import { expect, test } from 'vitest'
import { isIncompleteAddress, maskAddress, parseAddress, parseNewAddress } from './address'

const local = (length: number) => 'a'.repeat(length)
/** A domain of `length` characters whose labels are 63 characters at most. */
const domain = (length: number) => {
  const labels: string[] = []
  for (let left = length - '.test'.length; left > 0; left -= 64) labels.push('d'.repeat(Math.min(63, left)))
  return `${labels.join('.')}.test`.slice(-length)
}

test.each([
  ['a plain address', 'a@b.test', 'a@b.test', 'a@b.test'],
  ['upper case in both parts', 'Ada.Lovelace@B.Test', 'ada.lovelace@b.test', 'Ada.Lovelace@b.test'],
  ['a plus part', 'ada+shop@b.test', 'ada+shop@b.test', 'ada+shop@b.test'],
  ['a subdomain', 'a@m.b.test', 'a@m.b.test', 'a@m.b.test'],
  ['every other sign of an atom', "#$&'*+-/?^_`{|}~=@b.test", "#$&'*+-/?^_`{|}~=@b.test", "#$&'*+-/?^_`{|}~=@b.test"],
  ['a top-level domain in Cyrillic', 'a@почта.рф', 'a@xn--80a1acny.xn--p1ai', 'a@xn--80a1acny.xn--p1ai'],
  ['a right-to-left domain', 'a@\u05D0\u05D1.test', 'a@xn--4dbc.test', 'a@xn--4dbc.test'],
  ['a local part of 64 characters', `${local(64)}@b.test`, `${local(64)}@b.test`, `${local(64)}@b.test`],
  ['254 characters in all', `a@${domain(252)}`, `a@${domain(252)}`, `a@${domain(252)}`],
  ['a label of 63 characters', `a@${'d'.repeat(63)}.test`, `a@${'d'.repeat(63)}.test`, `a@${'d'.repeat(63)}.test`],
  ['digits in a label that is not the last', 'a@4.5.b.test', 'a@4.5.b.test', 'a@4.5.b.test'],
  ['a last label with a digit first', 'a@b.3com', 'a@b.3com', 'a@b.3com'],
  ['an international domain', 'a@bücher.test', 'a@xn--bcher-kva.test', 'a@xn--bcher-kva.test'],
  ['an international domain in capitals', 'a@BÜCHER.test', 'a@xn--bcher-kva.test', 'a@xn--bcher-kva.test'],
  ['a domain as A-label', 'a@XN--BCHER-KVA.test', 'a@xn--bcher-kva.test', 'a@xn--bcher-kva.test'],
  ['a sharp s, which is a letter of its own', 'a@straße.test', 'a@xn--strae-oqa.test', 'a@xn--strae-oqa.test'],
  ['a Cyrillic a in the domain', 'a@b\u0430nk.test', 'a@xn--bnk-6cd.test', 'a@xn--bnk-6cd.test'],
  ['a dotless i in the domain', 'a@m\u0131ke.test', 'a@xn--mke-jua.test', 'a@xn--mke-jua.test'],
  ['a final sigma', 'a@χαος.test', 'a@xn--mxa2ajr.test', 'a@xn--mxa2ajr.test'],
  ['a last label in Greek capitals', 'a@b.ΧΑΟΣ', 'a@b.xn--mxa2amn', 'a@b.xn--mxa2amn'],
  ['a capital I with a dot', 'a@\u0130x.test', 'a@xn--ix-rub.test', 'a@xn--ix-rub.test'],
  ['a small Cherokee letter', 'a@\uAB70.test', 'a@xn--58d.test', 'a@xn--58d.test'],
])('B15 %s is accepted, and counts as no other address', (_, typed, key, deliverable) => {
  expect(parseAddress(typed)).toEqual({ typed, key, deliverable })
})

test.each([
  // The @ is missing or repeated
  ['nothing', ''],
  ['no @', 'a.b.test'],
  ['no local part', '@b.test'],
  ['no domain', 'a@'],
  ['a second @', 'a@b@c.test'],
  ['a full-width @', 'a\uFF20b.test'],
  ['a full-width @ before the real one', 'a\uFF20evil.test@b.test'],
  ['a full-width @ after the real one', 'a@b.test\uFF20evil.test'],
  // White space, control and invisible characters
  ['a space before', ' a@b.test'],
  ['a space after', 'a@b.test '],
  ['a space inside', 'a @b.test'],
  ['a no-break space', 'a\u00A0@b.test'],
  ['an ideographic space', 'a@b\u3000.test'],
  ['a NUL', 'a\0@b.test'],
  ['a line end with a header', 'a@b.test\r\nBcc: v@b.test'],
  ['a line feed alone', 'a@b.test\n'],
  ['a C1 control', 'a@b\u0085.test'],
  ['a line separator', 'a@b.test\u2028'],
  ['a zero-width space', 'a\u200B@b.test'],
  ['a zero-width joiner in the domain', 'a@b\u200Dc.test'],
  ['a soft hyphen in the local part', 'a\u00ADb@b.test'],
  ['a soft hyphen in the domain', 'a@b\u00ADc.test'],
  ['a byte-order mark', '\uFEFFa@b.test'],
  ['a direction override', 'a\u202Eb@b.test'],
  ['a variation selector in the domain', 'a@b\uFE0F.test'],
  ['a variation selector of the supplement', 'a@b\u{E0100}.test'],
  ['a Hangul filler', 'a@b\u115F.test'],
  ['half a surrogate pair', 'a@b\uD83D.test'],
  ['half a surrogate pair in the local part', '\uDE00@b.test'],
  // Letters that become others
  ['a dotless i in the local part', 'm\u0131ke@b.test'],
  ['a Cyrillic a in the local part', '\u0430@b.test'],
  ['a Kelvin sign in the local part', 'mi\u212Ae@b.test'],
  ['a Kelvin sign in the domain', 'a@ban\u212A.test'],
  ['a ligature in the domain', 'a@o\uFB03ce.test'],
  ['a rounded Cyrillic ve, which becomes the plain one', 'a@\u1C80.test'],
  ['an alpha with an iota below, which becomes two letters', 'a@\u1F80.test'],
  ['a combining iota, which becomes a letter', 'a@b\u0345.test'],
  ['letters apart from their marks', 'a@bu\u0308cher.test'],
  ['a superscript digit', 'a@b\u00B2.test'],
  ['an emoji domain', 'a@\u{1F600}.test'],
  ['an ideographic full stop', 'a@b\u3002test'],
  ['a full-width full stop', 'a@b\uFF0Etest'],
  // Syntax that systems read differently
  ['a quoted local part', '"a"@b.test'],
  ['a quoted @', '"a@evil.test"@b.test'],
  ['an escape', 'a\\b@b.test'],
  ['a comment after', 'a@b.test(c)'],
  ['a display name', 'Ada <a@b.test>'],
  ['a list with a comma', 'a@b.test,v@b.test'],
  ['a list with a semicolon', 'a@b.test;v@b.test'],
  ['a group', 'g:a@b.test;'],
  ['percent routing', 'v%evil.test@b.test'],
  ['bang routing', 'evil.test!v@b.test'],
  ['a source route', '@evil.test:a@b.test'],
  ['an encoded word', '=?utf-8?q?a?=@b.test'],
  ['an encoded word in part', 'a=?x@b.test'],
  ['HTML', '<b>a</b>@b.test'],
  // Dots
  ['a dot first', '.a@b.test'],
  ['a dot after the domain', 'a@b.test.'],
  ['two dots in the domain', 'a@b..test'],
  ['a dot before the domain', 'a@.b.test'],
  // Domains
  ['one label', 'a@localhost'],
  ['an IPv4 address', 'a@127.0.0.1'],
  ['an IPv4 address of fewer parts', 'a@127.1'],
  ['an IPv4 literal', 'a@[127.0.0.1]'],
  ['an IPv6 literal', 'a@[IPv6:::1]'],
  ['a numeric last label', 'a@b.123'],
  ['a hexadecimal last label', 'a@b.0x1F'],
  ['a hexadecimal last label without digits', 'a@b.0x'],
  ['a hyphen first in a label', 'a@-b.test'],
  ['a hyphen last in the last label', 'a@b.test-'],
  ['an underscore', 'a@b_c.test'],
  ['a path', 'a@b.test/evil'],
  ['a query', 'a@b.test?evil'],
  ['a fragment', 'a@b.test#evil'],
  ['a port', 'a@b.test:25'],
  ['a backslash', 'a@b.test\\evil'],
  ['a percent sign in the domain', 'a@b%2etest'],
  ['an empty A-label', 'a@xn--.test'],
  ['an A-label that decodes to a control character', 'a@xn--a.test'],
  ['an A-label that decodes to ASCII', 'a@xn--abc-.test'],
  ['an A-label that decodes to a zero-width joiner', 'a@xn--bc-m1t.test'],
  ['an A-label that decodes to a full stop', 'a@xn--bc-yu3n.test'],
  ['an A-label that decodes to a full-width @', 'a@xn--bc-iw3n.test'],
  ['an A-label that decodes to a capital', 'a@xn--B-kfa.test'],
  ['an A-label that decodes to letters apart from their marks', 'a@xn--bu-vub.test'],
  ['an A-label that decodes to nothing at all', 'a@xn--zzzzzzzz99.test'],
  ['a bad A-label in capitals', 'a@b.XN--A'],
  ['a right-to-left label mixed with left-to-right', 'a@a\u05D0b.test'],
  ['a mark first in a label', 'a@\u0301b.test'],
  // Lengths
  ['a local part of 65 characters', `${local(65)}@b.test`],
  ['255 characters in all', `a@${domain(253)}`],
  ['a label of 64 characters', `a@${'d'.repeat(64)}.test`],
  ['a label of 64 characters as A-label', `a@${'ü'.repeat(60)}${'\u4E00'.repeat(3)}.test`],
  [
    '255 characters in all, once the domain is an A-label',
    `a@${`${'d'.repeat(55)}.`.repeat(3)}${'d'.repeat(54)}.büücherei-bücherei.test`,
  ],
  [
    '261 characters in all, before the domain is a shorter A-label',
    `a@${`${'\u{20000}'.repeat(50)}.`.repeat(2)}${'d'.repeat(52)}.test`,
  ],
  ['16 KiB', `${local(16_384)}@b.test`],
])('B12 B13 B14 B15 B16 %s is refused', (_, text) => {
  expect(parseAddress(text)).toBeNull()
})

test.each(['a..b@docomo.ne.jp', 'ab.@ezweb.ne.jp', 'a...@docomo.ne.jp', 'A..B.@docomo.ne.jp'])(
  'B132 %s, as Japanese carriers gave out, is an address that a person may have and nobody may choose',
  (address) => {
    expect(parseAddress(address)).toEqual({ typed: address, key: address.toLowerCase(), deliverable: address })
    expect(parseNewAddress(address)).toBeNull()
    expect(parseNewAddress('a.b@docomo.ne.jp')).not.toBeNull()
  },
)

test('a deliverable address parses to itself, so that no second reading finds another recipient', () => {
  for (const text of ['Ada+x@BÜCHER.test', 'a@straße.test', 'a@b\u0430nk.test', "o'neil@XN--BCHER-KVA.test"]) {
    const first = parseAddress(text)
    const again = parseAddress(first?.deliverable ?? '')
    expect(again).toMatchObject({ key: first?.key, deliverable: first?.deliverable })
    expect(first?.deliverable).toMatch(/^[\x21-\x7e]+$/)
  }
})

test.each(['', 'ada', 'noahexample.com', '@b.test', 'leo@', 'leo@exam', 'leo@.test', 'leo@b.'])(
  'a part is missing in “%s”',
  (text) => {
    expect([parseAddress(text), isIncompleteAddress(text)]).toEqual([null, true])
  },
)

const WRONG = ['a@b.test,v@b.test', 'a@b;v@b.test', 'a@b@c.test', 'Ada <a@b>', 'ada lovelace', 'a%b@b.test']
test.each([...WRONG, 'ä@b.test', 'a＠b.test'])('“%s” is wrong in another way', (text) => {
  expect([parseAddress(text), isIncompleteAddress(text)]).toEqual([null, false])
})

test('B14 ten thousand nested brackets are refused as fast as any other text', () => {
  const tries = Array.from({ length: 5 }, () => {
    const startedAt = performance.now()
    expect(parseAddress(`${'('.repeat(10_000)}a@b.test${')'.repeat(10_000)}`)).toBeNull()
    expect(parseAddress(`${'a.'.repeat(120)}!@b.test`)).toBeNull()
    expect(isIncompleteAddress(`${'a@'.repeat(8_000)},`)).toBe(false)
    expect(isIncompleteAddress(`${'a.'.repeat(8_000)}@${'.a'.repeat(8_000)}`)).toBe(true)
    return performance.now() - startedAt
  })
  expect(Math.min(...tries)).toBeLessThan(50)
})

test.each([
  ['ada@example.com', 'a••••@example.com'],
  ['a@example.com', 'a••••@example.com'],
  ['A.B+c@bücher.test', 'A••••@bücher.test'],
])('the mask of %s shows the first letter and the domain', (address, masked) => {
  expect(maskAddress(address)).toBe(masked)
})

test('a mask does not reveal the length of the local part', () => {
  expect(maskAddress('ab@b.test')).toBe(maskAddress('abcdefghijkl@b.test'))
})
