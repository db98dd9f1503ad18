import { expect, test } from "vitest";
import { type Column, tableLines } from "./table.ts";
import { widthOf } from "./text.ts";

interface Row {
  readonly id: string;
  readonly who: string;
  readonly count: number;
}
const columns: readonly Column<Row>[] = [
  { header: "ID", cell: ({ id }) => id, whole: true },
  { header: "WHO", cell: ({ who }) => who },
  { header: "N", cell: ({ count }) => String(count), align: "right" },
  { header: "MORE", cell: () => "more", wide: true },
];
const rows: Row[] = [
  { id: "id-of-some-length", who: "a-rather-long-name-of-a-job", count: 7 },
  { id: "x", who: "", count: 100 },
];

test("tableLines() aligns columns, shows an empty cell as -, and trims line ends", () => {
  expect(tableLines(columns, rows, { wide: false, headers: true })).toEqual([
    "ID                  WHO                             N",
    "id-of-some-length   a-rather-long-name-of-a-job     7",
    "x                   -                             100",
  ]);
});

test("tableLines() shows an optional column if one item is worth it, and always with -o wide", () => {
  const optional: readonly Column<Row>[] = [
    { header: "ID", cell: ({ id }) => id },
    { header: "N", cell: ({ count }) => String(count), optional: ({ count }) => count > 50 },
  ];
  const titles = (items: readonly Row[], wide = false) => {
    return tableLines(optional, items, { wide, headers: true })[0];
  };
  expect(titles(rows)).toMatch(/^ID +N$/);
  expect(titles(rows.slice(0, 1))).toBe("ID");
  expect(titles(rows.slice(0, 1), true)).toMatch(/^ID +N$/);
});

test("tableLines() cuts the widest cells to the width, but never an id", () => {
  const lines = tableLines(columns, rows, { wide: false, headers: false, width: 40 });
  expect(lines).toEqual([
    "id-of-some-length   a-rather-long…     7",
    "x                   -                100",
  ]);
});

test("tableLines() leaves more width to a column that is worth more", () => {
  const worthy = columns.map((column) =>
    column.header === "WHO" ? { ...column, worth: 3 } : column,
  );
  const ids = worthy.map((column) => ({ ...column, whole: false }));
  const [line] = tableLines(ids, rows, { wide: false, headers: false, width: 44 });
  expect(line).toBe("id-of-s…   a-rather-long-name-of-a-job     7");
});

test.each([1, 10, 20, 30, 40, 60])("tableLines() keeps within %i columns", (width) => {
  const lines = tableLines(columns, rows, { wide: false, headers: true, width });
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
});

test("tableLines() never cuts with wide", () => {
  const lines = tableLines(columns, rows, { wide: true, headers: false, width: 20 });
  expect(lines[0]).toContain("a-rather-long-name-of-a-job");
  expect(lines[0]).toContain("more");
});

test("tableLines() replaces control characters", () => {
  const [line] = tableLines(columns, [{ id: "1", who: "\u001b[31mred\nx", count: 1 }], {
    wide: false,
    headers: false,
  });
  expect(line).toBe("1   \ufffd[31mred x   1");
});
