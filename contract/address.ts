export interface Address {
  /** As the person typed it. Pages and messages show it. */
  typed: string
  /** Equal for two spellings of one address: local part in ASCII lower case, domain as lower-case A-labels. */
  key: string
  /** For the mail server: local part as typed, domain as lower-case A-labels. */
  deliverable: string
}

export const MAX_ADDRESS_LENGTH = 254
const MAX_LOCAL_LENGTH = 64

// Japanese carriers gave out addresses with a dot before the @, or with several in a row.
const LOCAL_PART = /^[A-Za-z0-9#$&'*+\-/=?^_`{|}~][A-Za-z0-9#$&'*+\-/=?^_`{|}~.]*$/
const DOMAIN_TEXT = /^[\p{L}\p{Nd}\p{M}.-]+$/u
// If case folding changes or drops a character of the lower-case domain, mail would go to another domain than the one shown. The
// URL parser keeps ß and ς, and Cherokee folds to capitals, so these differ by case alone and are allowed.
const UNSTABLE = /(?![ßς\p{Script=Cherokee}])\p{Changes_When_NFKC_Casefolded}/u
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const PLAIN_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const INTERNATIONAL_LABEL = String.raw`[A-Za-z0-9-]*[^\u0000-\u007F](?:[A-Za-z0-9-]|[^\u0000-\u007F])*`
const ANY_LABEL = `(?:${PLAIN_LABEL}|${INTERNATIONAL_LABEL})`

/**
 * For the API description, in syntax that all dialects of regular expressions share. It accepts every acceptable address. Among
 * addresses of ASCII letters without A-labels it accepts no other.
 */
export const ADDRESS_PATTERN = [
  `^(?=[^@]{1,${MAX_LOCAL_LENGTH}}@)(?![^@]*=\\?)`,
  LOCAL_PART.source.slice(1, -1),
  `@(?:${ANY_LABEL}\\.)+(?![0-9]+$)(?!0[xX][0-9A-Fa-f]*$)${ANY_LABEL}$`,
].join('')

/** The same for an address that `parseNewAddress` accepts. */
export const NEW_ADDRESS_PATTERN = ADDRESS_PATTERN.replace('^', '^(?![^@]*\\.[.@])')

/** For an address that somebody types: none with a dot at the end of the local part, nor with two in a row. */
export const parseNewAddress = (text: string): Address | null => (/\.[.@]/.test(text) ? null : parseAddress(text))

/** Returns null for an address that is not acceptable. `%` and `!` are not, because mail servers may read them as routing. */
export function parseAddress(text: string): Address | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null
  const at = text.indexOf('@')
  const local = text.slice(0, at)
  const typedDomain = text.slice(at + 1)
  if (at < 1 || at > MAX_LOCAL_LENGTH || !LOCAL_PART.test(local) || local.includes('=?')) return null
  // DOMAIN_TEXT refuses lone surrogates, so the comparison sees well-formed text only.
  if (!DOMAIN_TEXT.test(typedDomain) || typedDomain.normalize('NFKC') !== typedDomain) return null
  if (UNSTABLE.test(typedDomain.toLowerCase())) return null
  const domain = toALabels(typedDomain)
  if (!domain || local.length + 1 + domain.length > MAX_ADDRESS_LENGTH) return null
  return { typed: text, key: `${local.toLowerCase()}@${domain}`, deliverable: `${local}@${domain}` }
}

/** Of one that is refused: whether a part is missing. A space, a list, a name beside it or a full-width @ is another fault. */
export function isIncompleteAddress(text: string): boolean {
  const [local, domain = '', ...more] = text.split('@')
  if (more.length > 0 || /[\s,;<>()"\uFF20]/.test(text)) return false
  return !local || !/^[^.].*\.[^.]+$/.test(domain)
}

function toALabels(domain: string): string | null {
  // URL parsers do not check A-labels in an all-ASCII name. The label `ü` before it makes them check, and makes them refuse a numeric
  // last label as a malformed IPv4 address.
  if (!URL.canParse(`http://ü.${domain}/`)) return null
  const converted = new URL(`http://ü.${domain}/`).hostname.slice('xn--tda.'.length)
  const labels = converted.split('.')
  return labels.length >= 2 && labels.every((label) => LABEL.test(label)) ? converted : null
}

/** Such as `a••••@example.com`: enough to recognise one's own address, too little to learn another one. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, 1)}••••${address.slice(at)}`
}
