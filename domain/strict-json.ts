/**
 * Parses JSON and refuses what parsers treat differently: a byte-order mark, duplicate keys, and more than so many nested containers.
 * A problem is the end of a sentence about the text.
 */
export function parseStrictJson(
  text: string,
  maxDepth = Number.POSITIVE_INFINITY,
): { value: unknown } | { problem: string } {
  if (text.startsWith('\uFEFF')) return { problem: 'begins with a byte-order mark; send it without.' }
  const problem = findStructureProblem(text, maxDepth)
  if (problem) return { problem }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { problem: 'is not valid JSON.' }
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/y
const COLON = /[ \t\r\n]*:/y

/** Checks brackets and keys only; JSON.parse checks the rest. */
function findStructureProblem(text: string, maxDepth: number): string | null {
  const containers: (Set<string> | null)[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '{' || char === '[') {
      if (containers.push(char === '{' ? new Set() : null) > maxDepth) return `nests more than ${maxDepth} containers.`
    } else if (char === '}' || char === ']') {
      containers.pop()
    } else if (char === '"') {
      STRING.lastIndex = at
      const literal = STRING.exec(text)?.[0]
      if (!literal) return 'is not valid JSON.'
      at += literal.length - 1
      const keys = containers.at(-1)
      COLON.lastIndex = at + 1
      if (!keys || !COLON.test(text)) continue
      const key = decodeKey(literal)
      if (keys.has(key)) return 'names the same key twice.'
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
