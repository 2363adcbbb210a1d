const MAX_DEPTH = 5

/** Parses JSON and refuses what parsers treat differently: a byte-order mark, duplicate keys, more than five nested containers. */
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

/** Checks brackets and keys only; JSON.parse checks the rest. */
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
