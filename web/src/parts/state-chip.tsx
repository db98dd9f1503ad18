import { stateWord } from "../../../src/core/model/state-word.ts";
import { grouped } from "./numbers.ts";
import { lookOf } from "./state-look.ts";

export function StateChip({ state, count }: { state: string; count?: number }) {
  return (
    <span className={`chip look-${lookOf(state)}`}>
      <i aria-hidden="true" />
      {stateWord(state)}
      {count === undefined ? null : <b>{grouped(count)}</b>}
    </span>
  );
}
