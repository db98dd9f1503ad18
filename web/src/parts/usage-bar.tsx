import { memo } from "react";
import { inOrder, lookOf, stateName } from "./state-look.ts";

interface Props {
  readonly states: Readonly<Record<string, number>>;
  readonly total: number;
  /** What is free is a part with a colour of its own, because the bar has empty places too. */
  readonly drawsFree?: boolean;
}

/** A pool's resources by state, as one bar, and as text for screen readers. */
export const UsageBar = memo(function UsageBar({ states, total, drawsFree = false }: Props) {
  const parts = inOrder(states);
  const words = parts.map(([state, count]) => `${count} ${stateName(state)}`).join(", ");
  return (
    <span className="bar" role="img" aria-label={words || "empty"} title={words}>
      {parts.map(([state, count]) =>
        state === "free" && !drawsFree ? null : (
          <span
            key={state}
            className={`look-${lookOf(state)}`}
            // One resource of five hundred stays visible.
            style={{ flexBasis: `max(2px, ${(count / Math.max(1, total)) * 100}%)` }}
          />
        ),
      )}
    </span>
  );
});
