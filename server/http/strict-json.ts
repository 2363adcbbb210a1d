const MAX_DEPTH = 5

/** JSON without what parsers disagree on: no byte-order mark, no duplicate keys, five nested containers at most. */
export function parseStrictJson(bytes: Uint8Array): { value: unknown } | { problem: string } {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { problem: 'The body is not valid UTF-8.' }
  }
  if (text.startsWith('\uFEFF')) return { problem: 'The body begins with a byte-order mark; send it without.' }
  const problem = findStructureProblem(text)
  if (problem) return { problem }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { problem: 'The body is not valid JSON.' }
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/y
const COLON = /[ \t\r\n]*:/y

/** Only brackets and keys are looked at; whether the rest is JSON is for the parser to say. */
function findStructureProblem(text: string): string | null {
  const containers: (Set<string> | null)[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '{' || char === '[') {
      if (containers.push(char === '{' ? new Set() : null) > MAX_DEPTH)
        return `The body nests more than ${MAX_DEPTH} containers.`
    } else if (char === '}' || char === ']') {
      containers.pop()
    } else if (char === '"') {
      STRING.lastIndex = at
      const literal = STRING.exec(text)?.[0]
      if (!literal) return 'The body is not valid JSON.'
      at += literal.length - 1
      const keys = containers.at(-1)
      COLON.lastIndex = at + 1
      if (!keys || !COLON.test(text)) continue
      const key = decodeKey(literal)
      if (keys.has(key)) return 'The body names the same key twice.'
      keys.add(key)
    }
  }
  return null
}

function decodeKey(literal: string): string {
  try {
    return JSON.parse(literal)
  } catch {
    return literal
  }
}
