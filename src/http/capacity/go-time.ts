/**
 * Go's default text of a time: `2024-05-01 10:00:00.5 +0000 UTC m=+12.000000001`. The part behind `m=`
 * is the time since the server started, as Go's own clock would have told it.
 */
export function goTime(atMs: number, startedAtMs: number): string {
  const [date, clock = ""] = new Date(atMs).toISOString().replace("Z", "").split("T");
  const time = clock.replace(/\.?0+$/, "");
  const sinceMs = atMs - startedAtMs;
  const sign = sinceMs < 0 ? "-" : "+";
  return `${date} ${time} +0000 UTC m=${sign}${(Math.abs(sinceMs) / 1_000).toFixed(9)}`;
}
