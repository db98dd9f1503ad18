import { csvOf, download } from "./csv.ts";

interface Props {
  /** Without its extension. */
  readonly name: string;
  /** Only called when somebody wants the file. The first row has the names of the columns. */
  readonly rows: () => readonly (readonly (string | number | null)[])[];
}

/** Saves what the view shows, as a file for spreadsheets. */
export function CsvButton({ name, rows }: Props) {
  return (
    <button
      type="button"
      className="csv"
      onClick={() => download(`berth-${name}.csv`, csvOf(rows()))}
    >
      Download CSV
    </button>
  );
}
