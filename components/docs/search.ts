export interface ContentsEntry {
  /** Its anchor, which begins the anchors of its parts. */
  id: string
  title: string
  mark?: string
  /** Further names by which a search finds it. */
  words?: string
  /** Names by which a search finds it before what has them in its title. */
  first?: string
  description?: string
  codes?: readonly string[]
  /** Names of members, each after the part in which it stands and before the words that it may be: `query.status sent dead`. */
  members?: readonly string[]
}

export interface ContentsGroup {
  title: string
  path: string
  entries: readonly ContentsEntry[]
}

/** What the search finds an error code by. */
export type Meanings = Readonly<Record<string, { message: string; details: string }>>

export interface FoundEntry extends ContentsEntry {
  /** The parts of the entry that have the words. */
  parts: { id: string; title: string }[]
  /** Where the words are: in the names that come first, in the title, in further names, or in a part alone. The lowest is the best. */
  rank: -1 | 0 | 1 | 2
}

/** They tell no place from another. */
const FILLERS = new Set(
  'a an and are at be can do does for from how i if in is it me my of on or that the this to we what when where which will with you your'.split(
    ' ',
  ),
)

const literally = (text: string) => text.replace(/[^a-z0-9]/g, '\\$&')

/** A code is one word, and each part of a name with `_` is one too. */
const beginningOfWord = (pattern: string) => new RegExp(`(?<![a-z0-9](?=[a-z0-9]))(?:${pattern})`, 'i')

const beginningOf = (word: string) => beginningOfWord(literally(word))

/** At each place a letter may be wrong, missing, too many or swapped with the next. A code is exact, and a short word would be like too many others. */
const withOneWrongLetter = (word: string): string =>
  /^[a-z]{5,}$/.test(word)
    ? [...word]
        .flatMap((letter, at) => {
          const [before, next, after] = [word.slice(0, at), word.slice(at), word.slice(at + 1)]
          return [
            `${before}[a-z]?${next}`,
            `${before}[a-z]?${after}`,
            before + after.charAt(0) + letter + after.slice(1),
          ]
        })
        .join('|')
    : literally(word)

/** None without a word that tells a place from another. */
export function search(groups: readonly ContentsGroup[], typed: string, meanings: Meanings): FoundGroup[] | undefined {
  const all = searchAll(groups, typed, meanings)
  const isNamed = all?.some(({ entries }) => entries.some(({ rank }) => rank < 1))
  // Where titles have the words, the error codes that have them too would hide those.
  return isNamed && !/\d{3}/.test(typed) ? all?.map(withoutCodes).filter(({ entries }) => entries.length > 0) : all
}

const withoutCodes = (group: FoundGroup): FoundGroup => ({
  ...group,
  entries: group.entries
    .map((entry) => ({ ...entry, parts: entry.parts.filter(({ id }) => !/_\d{3}$/.test(id)) }))
    .filter(({ rank, parts }) => rank < 2 || parts.length > 0),
})

function searchAll(groups: readonly ContentsGroup[], typed: string, meanings: Meanings): FoundGroup[] | undefined {
  const words = typed
    .toLowerCase()
    .split(/[\s-]+/)
    .filter((word) => word && !FILLERS.has(word))
  if (words.length === 0) return undefined
  const numbers = words.filter((word) => /\d/.test(word)).map(beginningOf)
  const exact = found(groups, { beginnings: words.map(beginningOf), numbers }, meanings)
  if (exact.length > 0) return exact
  return found(groups, { beginnings: words.map(withOneWrongLetter).map(beginningOfWord), numbers }, meanings)
}

export type FoundGroup = Omit<ContentsGroup, 'entries'> & { entries: FoundEntry[] }

/**
 * What has all the words in its names; only if nothing has, what has them in an explanation; only if nothing has, what has the most of
 * them. A word with a digit, such as a code, must be there. The best comes first.
 */
function found(
  groups: readonly ContentsGroup[],
  { beginnings, numbers }: Record<'beginnings' | 'numbers', readonly RegExp[]>,
  meanings: Meanings,
): FoundGroup[] {
  const rankOf = ({ entries }: FoundGroup) => entries[0]?.rank ?? 0
  const hasAllOf = (names: string) => {
    const words = names.split(' ')
    return words.length <= beginnings.length && words.every((word) => beginnings.some((each) => each.test(word)))
  }
  for (let wanted = beginnings.length; wanted > 0; wanted--) {
    const isIn = (text: string) =>
      beginnings.filter((beginning) => beginning.test(text)).length >= wanted &&
      numbers.every((number) => number.test(text))
    for (const isExplained of [false, true]) {
      const found = groups
        .map((group) => searched(group, { isIn, hasAllOf }, meanings, isExplained))
        .filter(({ entries }) => entries.length > 0)
      if (found.length > 0) return found.sort((one, other) => rankOf(one) - rankOf(other))
    }
  }
  return []
}

/** An error code alone says little. */
const titleOf = (name: string, meanings: Meanings) => [name, meanings[name]?.message].join(' ').trim()

/** The entries that have the words, themselves or in their errors and members. */
function searched(
  group: ContentsGroup,
  { isIn, hasAllOf }: Record<'isIn' | 'hasAllOf', (text: string) => boolean>,
  meanings: Meanings,
  isExplained: boolean,
): FoundGroup {
  const entries = group.entries.flatMap((entry): FoundEntry[] => {
    const { id, title, words = '', first = '', description = '', codes = [], members = [] } = entry
    const { message = '', details = description } = meanings[title] ?? {}
    const found = [
      ...codes.map((code) => ({
        part: code,
        text: `${code} ${meanings[code]?.message}`,
        more: meanings[code]?.details,
      })),
      ...members.map((member) => ({ part: member.split(' ')[0] ?? '', text: member, more: '' })),
    ].filter(({ text, more }) => isIn(isExplained ? `${text} ${more}` : text))
    const parts = found.map(({ part }) => ({ id: `${id}.${part}`, title: titleOf(part, meanings) }))
    const titles = `${group.title} ${title}`
    const hit = { ...entry, title: titleOf(title, meanings), parts }
    if (isIn(first) && hasAllOf(first)) return [{ ...hit, rank: -1 }]
    if (isIn(titles)) return [{ ...hit, rank: 0 }]
    if (isIn(`${titles} ${words} ${message} ${isExplained ? details : ''}`)) return [{ ...hit, rank: 1 }]
    return parts.length > 0 ? [{ ...hit, rank: 2 }] : []
  })
  return { ...group, entries: entries.sort((one, other) => one.rank - other.rank) }
}
