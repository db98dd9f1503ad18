import type { ReactNode } from "react";
import type { Pool, Resource } from "../../../src/api/schemas.ts";
import { grouped, percentInUse } from "./numbers.ts";

interface Props {
  readonly usage: NonNullable<Pool["usage"] | Resource["usage"]>;
  /** The amount of each holder; without it the use is one block. */
  readonly shares?: Resource["shares"];
}

/** One bar for each dimension of a shared resource, stacked by holder. */
export function CapacityBars({ usage, shares = [] }: Props) {
  const lines = usage.map((one) => ({ reserved: 0, ...one }));
  const hasReserved = lines.some(({ reserved }) => reserved > 0);
  return (
    <>
      <dl className={hasReserved ? "capacity with-reserved" : "capacity"}>
        {lines.map(({ dimension, ...line }) => (
          <CapacityLine
            key={dimension}
            label={dimension}
            {...line}
            blocks={blocksOf(dimension, shares)}
          />
        ))}
      </dl>
      {hasReserved ? (
        <p className="legend">
          <span>
            <i className="look-held" aria-hidden="true" /> in use
          </span>
          <span>
            <i className="look-reserved" aria-hidden="true" /> free, but reserved for requests that
            have waited long
          </span>
        </p>
      ) : null}
    </>
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
  /** Of what is free. */
  readonly reserved?: number;
  /** The parts of the use; one block by default. */
  readonly blocks?: readonly Block[];
}

/** One bar with its name and its numbers, for a list of the class `capacity`. */
export function CapacityLine({ label, used, capacity, reserved = 0, blocks = [] }: LineProps) {
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
          {reserved === 0 ? null : (
            <span
              className="look-reserved"
              title={`${grouped(reserved)} reserved`}
              style={shareOf(reserved, Math.max(used, capacity))}
            />
          )}
        </span>
        <span className="amounts">
          <b>{grouped(used)}</b> of {grouped(capacity)}
          {reserved === 0 ? "" : `, ${grouped(reserved)} free but reserved`}
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
