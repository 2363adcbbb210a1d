/** The results in the order of the items, of which so many are worked on at a time. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  maxActive: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const left = items.entries()
  const workers = Array.from({ length: maxActive }, async () => {
    for (const [index, item] of left) results[index] = await work(item)
  })
  await Promise.all(workers)
  return results
}
