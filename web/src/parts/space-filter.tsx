import { useFilter } from "../router.ts";

/** Chooses one of the spaces that the rows have. Nothing if there is only one. */
export function SpaceFilter({ spaces }: { spaces: readonly (string | undefined)[] }) {
  const [chosen, choose] = useFilter("space");
  const known = [...new Set([...spaces, chosen])].filter(
    (space) => space !== undefined && space !== "",
  );
  if (known.length < 2 && chosen === "") return null;
  return (
    <label className="order">
      Space
      <select value={chosen} onChange={(event) => choose(event.target.value)}>
        <option value="">All</option>
        {known.toSorted().map((space) => (
          <option key={space} value={space}>
            {space}
          </option>
        ))}
      </select>
    </label>
  );
}
