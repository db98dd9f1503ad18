import { cutTo, padTo, plain, widthOf } from "./text.ts";

export interface Column<Item> {
  readonly header: string;
  readonly cell: (item: Item) => string;
  /** Shown with `-o wide` only. */
  readonly wide?: boolean;
  /** Left out if no item has a value, or none passes the test, except with `-o wide`. */
  readonly optional?: boolean | ((item: Item) => boolean);
  readonly align?: "left" | "right";
  /** Never cut, because half an id is useless. */
  readonly whole?: boolean;
  /** Cut only while it is this many times as wide as the others; 1 without it. */
  readonly worth?: number;
}

export interface TableOptions {
  readonly wide: boolean;
  readonly headers: boolean;
  /** Cells are cut until a line fits; undefined cuts nothing. */
  readonly width?: number | undefined;
}

const gap = "   ";
/** A column is not cut below this width. */
const cellWidthMin = 8;

/** Formats a table of aligned columns, without blanks at the line ends. */
export function tableLines<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  { wide, headers, width }: TableOptions,
): string[] {
  const shown = columns.filter((column) => {
    if (wide) return true;
    const { optional = false, cell } = column;
    const isWorthIt =
      typeof optional === "function" ? optional : (item: Item) => hasValue(cell(item));
    return !column.wide && (optional === false || items.some(isWorthIt));
  });
  const rows = items.map((item) => shown.map(({ cell }) => plain(cell(item)) || "-"));
  const titles = shown.map(({ header }) => header);
  const all = headers ? [titles, ...rows] : rows;
  const natural = shown.map((_, at) => Math.max(0, ...all.map((row) => widthOf(row[at] ?? ""))));
  const widths = width === undefined || wide ? natural : fitWidths(shown, natural, width);
  return all.map((row) => {
    const cells = shown.map(({ align }, at) => {
      const columnWidth = widths[at] ?? 0;
      return padTo(cutTo(row[at] ?? "", columnWidth), columnWidth, align);
    });
    const line = cells.join(gap).trimEnd();
    return width === undefined || wide ? line : cutTo(line, width);
  });
}

function hasValue(cell: string): boolean {
  return cell !== "" && cell !== "-";
}

/** Narrows the column first that is widest for its worth, so that narrow ones stay complete. */
function fitWidths<Item>(
  columns: readonly Column<Item>[],
  natural: readonly number[],
  width: number,
): number[] {
  const widths = [...natural];
  let excess = natural.reduce((sum, each) => sum + each, gap.length * (natural.length - 1)) - width;
  for (; excess > 0; excess--) {
    const sizes = widths.map((size, at) => {
      const { whole = false, worth = 1 } = columns[at] ?? {};
      return whole || size <= cellWidthMin ? 0 : size / worth;
    });
    const widest = sizes.indexOf(Math.max(...sizes));
    if (sizes[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}
