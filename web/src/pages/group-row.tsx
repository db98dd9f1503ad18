import type { ReactNode } from "react";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { usePlace, withFilters } from "../router.ts";

interface Props {
  readonly name: ReactNode;
  readonly count: number;
  readonly columns: number;
  /** How many of them are here, if not all, and where all are. */
  readonly shown?: number;
  readonly all?: string | undefined;
  /** What the rows have in common. */
  readonly children?: ReactNode;
}

/** The head of a group of rows. */
export function GroupRow({ name, count, columns, shown = count, all, children }: Props) {
  return (
    <tr className="group">
      <th scope="rowgroup" colSpan={columns}>
        {name} <small>{grouped(count)}</small>
        {children}
        {shown < count && all !== undefined ? (
          <Link className="all" href={all}>
            Show all {grouped(count)}
          </Link>
        ) : null}
      </th>
    </tr>
  );
}

/** The address of the same view with only the rows of one group; undefined if no filter finds them. */
export function useAllOfGroup(): (name: string) => string | undefined {
  const place = usePlace();
  const bySpace = place.query.get("group") === "space";
  return (name) => {
    if (bySpace) return withFilters(place, { space: name, group: "none" });
    // Leases of several pools share a group, and another text is filtered by already.
    if (name.includes(" ") || place.query.has("q")) return undefined;
    return withFilters(place, { q: name, group: "none" });
  };
}
