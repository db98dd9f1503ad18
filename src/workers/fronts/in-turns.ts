/** One of each owner after the other, so that one with thousands of them does not delay the others. */
export function inTurns<Item>(items: readonly Item[], ownerOf: (item: Item) => unknown): Item[] {
  const lists = [...Map.groupBy(items, ownerOf).values()];
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, at) => {
    return lists.flatMap((list) => list.slice(at, at + 1));
  }).flat();
}
