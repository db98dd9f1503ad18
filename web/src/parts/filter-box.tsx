import { useFilter } from "../router.ts";

/** Narrows what the view shows; it stands in the address, so that it can be shared. */
export function FilterBox({ label, name = "q" }: { label: string; name?: string }) {
  const [text, setText] = useFilter(name);
  return (
    <input
      type="search"
      data-filter
      className="filter"
      aria-label={label}
      placeholder={`${label}  f`}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
