/** How many rows of a long list are shown: the last one instead of a button that is as high. */
export function shownRows(limit: number, of: number): number {
  return of === limit + 1 ? of : limit;
}
