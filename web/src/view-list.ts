/** The views in the bar, each with the letter that follows `g`. */
import type { Whoami } from "../../src/api/schemas.ts";

export interface ListedView {
  readonly href: string;
  readonly label: string;
  readonly key: string;
}

const views: readonly ListedView[] = [
  { href: "/", label: "Pools", key: "p" },
  { href: "/queue", label: "Queue", key: "q" },
  { href: "/leases", label: "Leases", key: "l" },
  { href: "/out", label: "Out of service", key: "o" },
  { href: "/clusters", label: "Clusters", key: "c" },
  { href: "/spaces", label: "Spaces", key: "s" },
  { href: "/history", label: "History", key: "h" },
  { href: "/events", label: "Events", key: "e" },
  { href: "/audit", label: "Audit", key: "a" },
];

/** Without authentication there are no spaces. */
export function viewsFor(us: Pick<Whoami, "authentication"> | null): readonly ListedView[] {
  return views.filter(({ href }) => href !== "/spaces" || us?.authentication === true);
}
