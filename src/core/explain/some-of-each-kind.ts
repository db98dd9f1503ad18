interface OfKind {
  readonly kind: string;
}

/** In the same order: the first of each kind, and as many others as there is room for. */
export function someOfEachKind<T extends OfKind>(hits: readonly T[], max: number): T[] {
  const part = Math.ceil(max / new Set(hits.map(({ kind }) => kind)).size);
  const counts = new Map<string, number>();
  const isFirst = ({ kind }: T) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= part;
  };
  const first = new Set(hits.filter(isFirst).slice(0, max));
  for (const hit of hits) if (first.size < max) first.add(hit);
  return hits.filter((hit) => first.has(hit));
}
