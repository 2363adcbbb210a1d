/** The known name that the name is nearest to, if any is near enough. */
export const nearestOf = (
  name: string,
  known: readonly string[],
  isNear: (candidate: string, edits: number) => boolean,
): string | undefined =>
  known
    // At least as many edits as the lengths differ by. Without this check the names of an environment take 40 ms of a start.
    .filter((candidate) => isNear(candidate, Math.abs(candidate.length - name.length)))
    .map((candidate) => ({ candidate, edits: editsBetween(name, candidate) }))
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
