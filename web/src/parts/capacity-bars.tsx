import type { ReactNode } from "react";
import type { Pool, Resource } from "../../../src/api/schemas.ts";
import { grouped, percentInUse } from "./numbers.ts";

interface Props {
  readonly usage: NonNullable<Pool["usage"]>;
  /** The amount of each holder; without it the use is one block. */
  readonly shares?: Resource["shares"];
}

/** One bar for each dimension of a shared resource, stacked by holder. */
export function CapacityBars({ usage, shares = [] }: Props) {
  return (
    <dl className="capacity">
      {usage.map(({ dimension, used, capacity }) => (
        <CapacityLine
          key={dimension}
          label={dimension}
          used={used}
          capacity={capacity}
          blocks={blocksOf(dimension, shares)}
        />
      ))}
    </dl>
  );
}

interface Block {
  readonly key: string;
  readonly title: string;
  readonly amount: number;
}

interface LineProps {
  readonly label: ReactNode;
  readonly used: number;
  readonly capacity: number;
  /** The parts of the use; one block by default. */
  readonly blocks?: readonly Block[];
}

/** One bar with its name and its numbers, for a list of the class `capacity`. */
export function CapacityLine({ label, used, capacity, blocks = [] }: LineProps) {
  const whole = [{ key: "all", title: grouped(used), amount: used }];
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span className="bar" aria-hidden="true">
          {(blocks.length > 0 ? blocks : whole).map(({ key, title, amount }) => (
            <span
              key={key}
              className="look-held"
              title={title}
              style={shareOf(amount, Math.max(used, capacity))}
            />
          ))}
        </span>
        <span className="amounts">
          <b>{grouped(used)}</b> of {grouped(capacity)}
        </span>
        <small>{capacity === 0 ? "" : percentInUse(used / capacity)}</small>
      </dd>
    </div>
  );
}

function blocksOf(dimension: string, shares: NonNullable<Resource["shares"]>): Block[] {
  return shares.map(({ id, holder, amount }, index) => {
    const has = amount[dimension] ?? 0;
    return { key: `${id} ${index}`, title: `${holder}: ${grouped(has)}`, amount: has };
  });
}

function shareOf(amount: number, capacity: number) {
  return { flexBasis: `${(amount / Math.max(1e-9, capacity)) * 100}%` };
}
