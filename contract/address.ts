export interface Address {
  /** As the person typed it; this is what is shown. */
  typed: string
  /** The form that decides whether two addresses are the same: local part ASCII-folded, domain as lower-case A-label. */
  key: string
  /** What is handed to the mail server: local part as typed, domain as lower-case A-label. */
  deliverable: string
}

export const MAX_ADDRESS_LENGTH = 254
const MAX_LOCAL_LENGTH = 64

const LOCAL_PART = /^[A-Za-z0-9#$&'*+\-/=?^_`{|}~]+(?:\.[A-Za-z0-9#$&'*+\-/=?^_`{|}~]+)*$/
const DOMAIN_TEXT = /^[\p{L}\p{Nd}\p{M}.-]+$/u
// What case folding still changes in lower case, invisible characters that it drops among them, would be mailed to another
// domain than the one shown. The converter keeps two of these letters, and Cherokee, which folds to capitals, differs by case alone.
const UNSTABLE = /(?![ßς\p{Script=Cherokee}])\p{Changes_When_NFKC_Casefolded}/u
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const PLAIN_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const INTERNATIONAL_LABEL = String.raw`[A-Za-z0-9-]*[^\u0000-\u007F](?:[A-Za-z0-9-]|[^\u0000-\u007F])*`
const ANY_LABEL = `(?:${PLAIN_LABEL}|${INTERNATIONAL_LABEL})`

/**
 * For the API description, in what all dialects of patterns have: every acceptable address, and of those without letters of other
 * scripts or A-labels no other.
 */
export const ADDRESS_PATTERN = [
  `^(?=[^@]{1,${MAX_LOCAL_LENGTH}}@)(?![^@]*=\\?)`,
  LOCAL_PART.source.slice(1, -1),
  `@(?:${ANY_LABEL}\\.)+(?![0-9]+$)(?!0[xX][0-9A-Fa-f]*$)${ANY_LABEL}$`,
].join('')

/** The acceptable form of an address, or null. `%` and `!` would be routing. */
export function parseAddress(text: string): Address | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null
  const at = text.indexOf('@')
  const local = text.slice(0, at)
  const typedDomain = text.slice(at + 1)
  if (at < 1 || at > MAX_LOCAL_LENGTH || !LOCAL_PART.test(local) || local.includes('=?')) return null
  // Normalising throws nothing away on well-formed text; a lone surrogate fails DOMAIN_TEXT.
  if (!DOMAIN_TEXT.test(typedDomain) || typedDomain.normalize('NFKC') !== typedDomain) return null
  if (UNSTABLE.test(typedDomain.toLowerCase())) return null
  const domain = toALabels(typedDomain)
  if (!domain || local.length + 1 + domain.length > MAX_ADDRESS_LENGTH) return null
  return { typed: text, key: `${local.toLowerCase()}@${domain}`, deliverable: `${local}@${domain}` }
}

function toALabels(domain: string): string | null {
  // Parsers pass a name that is all ASCII unread, bad A-labels with it; the label before it makes them look.
  // It also makes a numeric last label an IPv4 address that is none, which they refuse.
  if (!URL.canParse(`http://ü.${domain}/`)) return null
  const converted = new URL(`http://ü.${domain}/`).hostname.slice('xn--tda.'.length)
  const labels = converted.split('.')
  return labels.length >= 2 && labels.every((label) => LABEL.test(label)) ? converted : null
}

/** `a••••@example.com`: enough to recognise one's own address, too little to learn another's. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, 1)}••••${address.slice(at)}`
}
