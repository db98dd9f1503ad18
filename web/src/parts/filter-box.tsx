import { useFilter } from "../router.ts";

interface Props {
  readonly label: string;
  readonly name?: string;
  /** Whether its key is told: it leads to the first of a view. */
  readonly hint?: boolean;
}

/** Narrows what the view shows; it stands in the address, so that it can be shared. */
export function FilterBox({ label, name = "q", hint = true }: Props) {
  const [text, setText] = useFilter(name);
  return (
    <input
      type="search"
      data-filter
      className="filter"
      aria-label={label}
      placeholder={hint ? `${label}  f` : label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
