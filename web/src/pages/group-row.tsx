import { grouped } from "../parts/numbers.ts";

interface Props {
  readonly name: string;
  readonly count: number;
  readonly columns: number;
}

/** The head of a group of rows. */
export function GroupRow({ name, count, columns }: Props) {
  return (
    <tr className="group">
      <th scope="rowgroup" colSpan={columns}>
        {name} <small>{grouped(count)}</small>
      </th>
    </tr>
  );
}
