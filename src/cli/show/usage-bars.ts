import type { Usage } from "../../api/placement-schemas.ts";

/** Narrow, because a resource has several bars in one row. */
const barWidth = 8;

/** `vcpus ████░░░░ 48/120  memory █░░░░░░░ 192/1600` */
export function usageBars(usage: readonly Usage[], unicode: boolean): string {
  return usage
    .map((one) => `${one.dimension} ${bar(one, unicode)} ${one.used}/${one.capacity}`)
    .join("  ");
}

/** A part is never rounded to none or to all. */
function bar({ used, capacity }: Usage, unicode: boolean): string {
  const [full, empty] = unicode ? ["█", "░"] : ["#", "."];
  const cells = Math.round((used / Math.max(capacity, 1)) * barWidth);
  const least = used > 0 ? 1 : 0;
  const most = used < capacity ? barWidth - 1 : barWidth;
  const filled = capacity === 0 ? 0 : Math.min(most, Math.max(least, cells));
  return full?.repeat(filled) + (empty ?? "").repeat(barWidth - filled);
}
