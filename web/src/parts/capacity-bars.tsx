import type { Pool, Resource } from "../../../src/api/schemas.ts";
import { grouped, percent } from "./numbers.ts";

interface Props {
  readonly usage: NonNullable<Pool["usage"]>;
  /** Who has how much; without it the use is one block. */
  readonly shares?: Resource["shares"];
}

/** One bar for each dimension of what is lent by amount, stacked by who has it. */
export function CapacityBars({ usage, shares = [] }: Props) {
  return (
    <dl className="capacity">
      {usage.map(({ dimension, used, capacity }) => (
        <div key={dimension}>
          <dt>{dimension}</dt>
          <dd>
            <span className="bar" aria-hidden="true">
              {blocksOf(dimension, used, shares).map(({ key, title, amount }) => (
                <span
                  key={key}
                  className="look-held"
                  title={title}
                  style={shareOf(amount, capacity)}
                />
              ))}
            </span>
            {grouped(used)} of {grouped(capacity)}
            <small>{capacity === 0 ? "" : percent(used / capacity)}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function blocksOf(dimension: string, used: number, shares: NonNullable<Resource["shares"]>) {
  const stacked = shares.map(({ id, holder, amount }, index) => {
    const has = amount[dimension] ?? 0;
    return { key: `${id} ${index}`, title: `${holder}: ${grouped(has)}`, amount: has };
  });
  return stacked.length > 0 ? stacked : [{ key: "all", title: grouped(used), amount: used }];
}

function shareOf(amount: number, capacity: number) {
  return { flexBasis: `${(amount / Math.max(1e-9, capacity)) * 100}%` };
}
