/** Domains that people write by a slip, and the one that they mean. A domain that a provider really has is not among them. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
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

const RIGHT = new Map(Object.entries(MEANT).flatMap(([right, slips]) => slips.map((slip) => [slip, right] as const)))

/** The address that was probably meant; null for one that looks right. */
export function probablyMeant(address: string): string | null {
  const at = address.lastIndexOf('@')
  const right = RIGHT.get(
    address
      .slice(at + 1)
      .trim()
      .toLowerCase(),
  )
  return at > 0 && right ? `${address.slice(0, at).trim()}@${right}` : null
}
