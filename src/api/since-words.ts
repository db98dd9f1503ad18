/** What the time beside a trouble is of: the age of a request that waits is not the age of the trouble. */
export function sinceWords(code: string, count: number): string {
  const verb = code === "waits_long" ? "waiting for" : "for";
  return count > 1 ? `the oldest ${verb}` : verb;
}
