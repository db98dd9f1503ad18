import type { ReactNode } from "react";
import { Link } from "./link.tsx";
import { grouped } from "./numbers.ts";

export interface Figure {
  readonly label: string;
  readonly value: ReactNode;
  readonly aside?: ReactNode;
  readonly href?: string;
  /** Something is wrong. */
  readonly bad?: boolean;
}

interface Props {
  readonly label: string;
  readonly figures: readonly Figure[];
  /** On a phone each has a line of half the width, because a list follows. */
  readonly isCompact?: boolean;
}

/** A few important numbers in one line. */
export function Figures({ label, figures, isCompact = false }: Props) {
  return (
    <dl className={isCompact ? "figures compact" : "figures"} aria-label={label}>
      {figures.map(({ label: name, value, aside, href, bad }) => (
        <div key={name} className={bad ? "bad" : undefined}>
          <dt>{href === undefined ? name : <Link href={href}>{name}</Link>}</dt>
          <dd>
            {typeof value === "number" ? grouped(value) : value}
            {aside ? (
              <>
                {" "}
                <small>{aside}</small>
              </>
            ) : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}
