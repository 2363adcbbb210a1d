/** The first of the names that has the letters of the given one, but for one or two. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const maxSlips = given.length < 10 ? 1 : 2
  return names.find((name) => Math.max(lettersBeyond(name, given), lettersBeyond(given, name)) <= maxSlips)
}

/** How many letters of a name the other name does not have. */
function lettersBeyond(other: string, name: string): number {
  const rest = [...other].reduce((left, letter) => left.replace(letter, ''), name)
  return rest.length
}
