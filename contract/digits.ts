const isDigit = (codePoint: number) => /^\p{Nd}$/u.test(String.fromCodePoint(codePoint))

/** Unicode keeps the ten digits of each script together and in order, so a digit's value is its distance from the first of its run. */
function digitValue(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0
  let first = codePoint
  while (isDigit(first - 1)) first--
  return String((codePoint - first) % 10)
}

/** The text with the decimal digits of every script as those of ASCII. */
export const asciiDigits = (text: string): string => text.replace(/(?![0-9])\p{Nd}/gu, digitValue)
