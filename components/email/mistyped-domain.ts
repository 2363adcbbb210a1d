/** Mistyped domains, by the domain that people mean. A domain that a provider really has is not among them. */
const MISTYPED: Readonly<Record<string, readonly string[]>> = {
  'gmail.com': ['gmial.com', 'gamil.com', 'gmaill.com', 'gmai.com', 'gmail.con', 'gmail.cmo', 'gnail.com', 'gmeil.com'],
  'googlemail.com': ['googlemial.com', 'googelmail.com', 'googlemail.con'],
  'hotmail.com': [
    'hotmial.com',
    'hotmal.com',
    'hotmai.com',
    'hotmaill.com',
    'hotmail.con',
    'hotnail.com',
    'homtail.com',
  ],
  'icloud.com': ['iclod.com', 'icoud.com', 'iclould.com', 'icloud.con'],
  'outlook.com': ['outlok.com', 'outllok.com', 'outloook.com', 'oultook.com', 'outlook.con'],
  'yahoo.com': ['yaho.com', 'yahooo.com', 'yhaoo.com', 'yhoo.com', 'yahoo.con'],
  'gmx.de': ['gmx.dee', 'gxm.de'],
  't-online.de': ['t-onlien.de', 'tonline.de', 't-oline.de'],
  'web.de': ['web.dee', 'wbe.de'],
  'orange.fr': ['ornage.fr', 'orage.fr'],
}

const SUGGESTED = new Map(
  Object.entries(MISTYPED).flatMap(([meant, mistyped]) => mistyped.map((domain) => [domain, meant] as const)),
)

/** The address that was probably meant; null if the domain is not a known mistake. */
export function suggestAddress(address: string): string | null {
  const at = address.lastIndexOf('@')
  const meant = SUGGESTED.get(
    address
      .slice(at + 1)
      .trim()
      .toLowerCase(),
  )
  return at > 0 && meant ? `${address.slice(0, at).trim()}@${meant}` : null
}
