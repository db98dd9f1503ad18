import { useFilter } from "../router.ts";

interface Props {
  readonly name: string;
  readonly label: string;
  readonly numeric?: boolean;
  readonly wide?: boolean;
}

/** The header of a sortable column. The address contains the sort order. */
export function SortHeader({ name, label, numeric = false, wide = false }: Props) {
  const [sort, setSort] = useFilter("sort");
  const sorted = sort === name;
  const order = name === "" ? "ascending" : "descending";
  return (
    <th
      scope="col"
      className={numeric ? "number" : wide ? "wide" : undefined}
      aria-sort={sorted ? order : undefined}
    >
      <button type="button" onClick={() => setSort(name)}>
        {label}
        <span aria-hidden="true">{sorted ? (name === "" ? " ↑" : " ↓") : ""}</span>
      </button>
    </th>
  );
}
