import { memo } from "react";
import { inOrder, lookOf } from "./state-look.ts";

interface Props {
  readonly states: Readonly<Record<string, number>>;
  readonly total: number;
}

/** How a pool's resources are spread over states, as one bar; in words for those who cannot see it. */
export const UsageBar = memo(function UsageBar({ states, total }: Props) {
  const parts = inOrder(states);
  const words = parts.map(([state, count]) => `${count} ${state}`).join(", ");
  return (
    <span className="bar" role="img" aria-label={words || "empty"} title={words}>
      {parts.map(([state, count]) =>
        state === "free" ? null : (
          <span
            key={state}
            className={`look-${lookOf(state)}`}
            // One of five hundred is seen, too.
            style={{ flexBasis: `max(2px, ${(count / Math.max(1, total)) * 100}%)` }}
          />
        ),
      )}
    </span>
  );
});
