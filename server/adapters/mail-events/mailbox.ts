/** No mailbox is longer. It bounds the work for one that a stranger has written. */
const MAX_MAILBOX_LENGTH = 1_000

/** What a mailbox may mean: a `+` and two digits may be xtext (RFC 3461), or stand in the address. */
export function addressesIn(mailbox: unknown): string[] {
  if (typeof mailbox !== 'string' || mailbox.length > MAX_MAILBOX_LENGTH) return []
  const decoded = mailbox.replaceAll(/\+([0-9A-F]{2})/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))
  const addresses = [mailbox, decoded].map(readMailbox).filter((address) => address.includes('@'))
  return [...new Set(addresses)]
}

/** The address of `Name <a@b>`, `<@relay:a@b>`, `a@b (comment)`, `"a"@b` or `a@b\x{FC}cher.example` (RFC 6533). */
const readMailbox = (mailbox: string): string =>
  withoutDecoration(mailbox)
    .replaceAll(/\s/g, '')
    .replace(/^@[^:]*:/, '')
    .replaceAll(/\\x\{([0-9A-F]{2,5}|10[0-9A-F]{4})\}/gi, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))

/** Without comments, which may be nested, without quotes, and without what stands around `<…>`. */
function withoutDecoration(mailbox: string): string {
  let [address, isQuoted, depth] = ['', false, 0]
  for (const [part] of mailbox.matchAll(/\\["()\\]|[\s\S]/g)) {
    if (part === '"' && depth === 0) isQuoted = !isQuoted
    else if (isQuoted) address += part.length > 1 ? part.slice(1) : part
    else if (part === '(') depth++
    else if (part === ')') depth = Math.max(0, depth - 1)
    else if (depth > 0) continue
    else if (part === '<') address = ''
    else if (part === '>') break
    else address += part
  }
  return address
}
