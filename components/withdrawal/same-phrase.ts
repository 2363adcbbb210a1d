/** Phones write the first letter in capitals, and some people copy the quotation marks too. */
export const isSamePhrase = (typed: string, phrase: string) => plain(typed) === plain(phrase)

const plain = (text: string) =>
  text
    .normalize('NFKC')
    .replace(/[\p{Pi}\p{Pf}"'„「」]/gu, '')
    .trim()
    .replace(/\s+/g, ' ')
    .toLowerCase()
