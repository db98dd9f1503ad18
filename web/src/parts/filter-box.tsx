import { useFilter } from "../router.ts";
import { KeyCap } from "./key-cap.tsx";

interface Props {
  readonly label: string;
  readonly name?: string;
  /** Whether to show its key, `f`, which focuses the first filter of a view. */
  readonly hint?: boolean;
}

/** Filters the view. The address contains the text, so that the view can be shared. */
export function FilterBox({ label, name = "q", hint = true }: Props) {
  const [text, setText] = useFilter(name);
  return (
    <span className="filter keyed">
      <input
        type="search"
        data-filter
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      {hint ? <KeyCap name="f" /> : null}
    </span>
  );
}
