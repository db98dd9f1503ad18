import { usePoolOrder } from "./pool-order.ts";

interface Props {
  readonly name: string;
  readonly label: string;
  readonly className?: string;
}

/** The header of a sortable column. The address contains the sort order. */
export function SortHeader({ name, label, className }: Props) {
  const [sort, setSort] = usePoolOrder();
  const sorted = sort === name;
  const order = name === "name" ? "ascending" : "descending";
  return (
    <th scope="col" className={className} aria-sort={sorted ? order : undefined}>
      <button type="button" onClick={() => setSort(name)}>
        {label}
        <span aria-hidden="true">{sorted ? (name === "name" ? " ↑" : " ↓") : ""}</span>
      </button>
    </th>
  );
}
