import { grouped } from "./numbers.ts";
import { lookOf, stateName } from "./state-look.ts";

export function StateChip({ state, count }: { state: string; count?: number }) {
  return (
    <span className={`chip look-${lookOf(state)}`}>
      <i aria-hidden="true" />
      {stateName(state)}
      {count === undefined ? null : <b>{grouped(count)}</b>}
    </span>
  );
}
