/** The maximum number of wrong letters for "did you mean". */
const distanceMax = 3;

/**
 * Bounds the time for comparing names to about 30 ms, because the server does nothing else then.
 */
const candidatesMax = 100_000;

/** Returns the most similar known name, or undefined if none is close. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const said = name.toLowerCase();
  const row = () => new Uint16Array(said.length + distanceMax + 2);
  const rows = [row(), row(), row()] as const;
  let best: string | undefined;
  let bestDistance = Math.min(distanceMax, Math.max(1, Math.floor(said.length / 2))) + 1;
  let looked = 0;
  for (const candidate of known) {
    if (++looked > candidatesMax || bestDistance === 0) break;
    const other = candidate.toLowerCase();
    if (Math.abs(other.length - said.length) >= bestDistance) continue;
    const distance = editDistance(said, other, bestDistance, rows);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The last three rows of the table, reused for every name. */
type Rows = readonly [Uint16Array, Uint16Array, Uint16Array];

/**
 * Optimal string alignment, which counts swapped letters once. Stops at `limit`.
 *
 * Names of one pool usually begin alike, so the common beginning and end are skipped, and cells too
 * far from the diagonal too. The whole table took forty times as long.
 */
function editDistance(a: string, b: string, limit: number, rows: Rows): number {
  let start = 0;
  let aEnd = a.length;
  let bEnd = b.length;
  while (start < aEnd && start < bEnd && a.charCodeAt(start) === b.charCodeAt(start)) start += 1;
  while (aEnd > start && bEnd > start && a.charCodeAt(aEnd - 1) === b.charCodeAt(bEnd - 1)) {
    aEnd -= 1;
    bEnd -= 1;
  }
  const height = aEnd - start;
  const width = bEnd - start;
  if (limit === 1 || height === 0 || width === 0) return Math.min(limit, Math.max(height, width));
  let [beforeLast, last, current] = rows;
  for (let column = 0; column <= width; column++) last[column] = column;
  for (let row = 1; row <= height; row++) {
    const from = Math.max(1, row - limit);
    const to = Math.min(width, row + limit);
    const said = a.charCodeAt(start + row - 1);
    current[from - 1] = row;
    let least = limit;
    for (let column = from; column <= to; column++) {
      const known = b.charCodeAt(start + column - 1);
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (said === known ? 0 : 1),
      );
      if (row > 1 && column > 1 && said === b.charCodeAt(start + column - 2)) {
        const swapped = known === a.charCodeAt(start + row - 2);
        if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current[column] = cost;
      if (cost < least) least = cost;
    }
    if (to < width) current[to + 1] = limit;
    if (least >= limit) return limit;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return Math.min(limit, at(last, width));
}

function at(row: Uint16Array, column: number): number {
  return row[column] ?? 0;
}
