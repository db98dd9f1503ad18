/** What the time beside a trouble is of: the age of a request that waits is not the age of the trouble. */
export function sinceWords(code: string, count: number): string {
  // A quota was not full all the time that its oldest request has waited.
  if (code === "quota_reached_long") return "the oldest request waiting for";
  const verb = code === "waits_long" ? "waiting for" : "for";
  return count > 1 ? `the oldest ${verb}` : verb;
}
