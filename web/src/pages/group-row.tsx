import type { ReactNode } from "react";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { usePlace, withFilters } from "../router.ts";

interface Props {
  readonly name: ReactNode;
  readonly count: number;
  readonly columns: number;
  /** How many of them are here, if not all, and the address that shows all, or again the first. */
  readonly shown?: number;
  readonly opens?: Opens;
  /** What the rows have in common. */
  readonly children?: ReactNode;
}

/** The head of a group of rows. */
export function GroupRow({ name, count, columns, shown = count, opens, children }: Props) {
  return (
    <tr className="group">
      <th scope="rowgroup" colSpan={columns}>
        {name} <small>{grouped(count)}</small>
        {children}
        {opens !== undefined && (shown < count || opens.isOpen) ? (
          <Link className="all" href={opens.href} keepScroll>
            {opens.isOpen ? "Show fewer" : `Show all ${grouped(count)}`}
          </Link>
        ) : null}
      </th>
    </tr>
  );
}

interface Opens {
  readonly href: string;
  readonly isOpen: boolean;
}

/** The group of which all rows are shown, in the place and the order that they have in the list. */
export function useOpenGroup(): readonly [string, (name: string) => Opens] {
  const place = usePlace();
  const open = place.query.get("open") ?? "";
  const opens = (name: string) => {
    const isOpen = name === open;
    return { isOpen, href: withFilters(place, { open: isOpen ? "" : name }) };
  };
  return [open, opens];
}
