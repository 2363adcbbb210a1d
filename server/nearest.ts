/** The known word that the word is nearest to, if any is near enough. The beginning of a known word counts as one edit. */
export const nearestOf = (
  word: string,
  known: readonly string[],
  isNear: (candidate: string, edits: number) => boolean,
): string | undefined =>
  known
    // At least as many edits as the lengths differ by. Without this check the names of an environment take 40 ms of a start.
    .filter((candidate) => candidate.startsWith(word) || isNear(candidate, Math.abs(candidate.length - word.length)))
    .map((candidate) => ({ candidate, edits: candidate.startsWith(word) ? 1 : editsBetween(word, candidate) }))
    .filter(({ candidate, edits }) => isNear(candidate, edits))
    .sort((a, b) => a.edits - b.edits)[0]?.candidate

/** How many letters must be added, removed or replaced. */
function editsBetween(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [count, letter] of [...from].entries()) {
    const row = [count + 1]
    for (let index = 0; index < to.length; index++) {
      const replaced = (above[index] ?? 0) + (letter === to[index] ? 0 : 1)
      row.push(Math.min(replaced, (above[index + 1] ?? 0) + 1, (row[index] ?? 0) + 1))
    }
    above = row
  }
  return above.at(-1) ?? 0
}
