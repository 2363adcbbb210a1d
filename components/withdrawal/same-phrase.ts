/** Phones write the first letter in capitals, end with a full stop after two spaces, and some people copy the quotation marks too. */
export const isSamePhrase = (typed: string, phrase: string) => plain(typed) === plain(phrase)

const plain = (text: string) =>
  text
    .normalize('NFKC')
    .replace(/[\p{Pi}\p{Pf}"'„「」]/gu, '')
    .trim()
    .replace(/[.。]$/, '')
    .replace(/\s+/g, ' ')
    .toLowerCase()
