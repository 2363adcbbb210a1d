/** The name whose letters are nearest to the given ones, if they differ by one or two. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const slips = (name: string) => Math.max(lettersBeyond(name, given), lettersBeyond(given, name))
  const [nearest] = names.toSorted((one, other) => slips(one) - slips(other))
  return nearest !== undefined && slips(nearest) <= (given.length < 10 ? 1 : 2) ? nearest : undefined
}

/** How many letters of a name the other name does not have. */
function lettersBeyond(other: string, name: string): number {
  const rest = [...other].reduce((left, letter) => left.replace(letter, ''), name)
  return rest.length
}
