/** Phones write the first letter in capitals. */
export const isSamePhrase = (typed: string, phrase: string) =>
  typed.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase() === phrase.normalize('NFKC').toLowerCase()
