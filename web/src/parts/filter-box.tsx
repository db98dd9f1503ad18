import { type KeyboardEvent, useId } from "react";
import { useFilter } from "../router.ts";
import { KeyCap } from "./key-cap.tsx";
import { rowTargets } from "./row-targets.ts";

interface Props {
  readonly label: string;
  readonly name?: string;
  /** Whether to show its key, `f`, which focuses the first filter of a view. */
  readonly hint?: boolean;
  /** Values to choose from; any other can be written as well. */
  readonly suggested?: readonly string[];
}

/** Filters the view. The address contains the text, so that the view can be shared. */
export function FilterBox({ label, name = "q", hint = true, suggested }: Props) {
  const [text, setText] = useFilter(name, { replace: true });
  const list = useId();
  return (
    <span className="filter keyed">
      <input
        type="search"
        data-filter
        aria-label={label}
        placeholder={label}
        list={suggested === undefined ? undefined : list}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
          if (event.key === "Enter" || (event.key === "ArrowDown" && suggested === undefined))
            focusFirstRow(event);
        }}
      />
      {hint ? <KeyCap name="f" /> : null}
      {suggested === undefined ? null : (
        <datalist id={list}>
          {suggested.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </span>
  );
}

/** From the filter into the list: the next keys are for its rows. */
function focusFirstRow(event: KeyboardEvent<HTMLInputElement>): void {
  const [first] = rowTargets(event.currentTarget.closest("main"), event.currentTarget);
  if (first === undefined) return;
  event.preventDefault();
  first.focus();
}
