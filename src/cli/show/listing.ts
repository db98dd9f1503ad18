import { Option } from "commander";
import type { Context } from "../cli-command.ts";
import { flag, type ListFormat, listFormats, outputFlag } from "../flags.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import {
  cutTo,
  escapeForYaml,
  hasUnsafe,
  plain,
  printableJson,
  widthOf,
} from "../terminal/text.ts";
import { watch } from "./watch.ts";

export interface ListFlags {
  readonly output: ListFormat;
  readonly headers: boolean;
  readonly watch?: boolean;
}

export function listOptions(): Option[] {
  return [
    outputFlag(...listFormats),
    flag("--no-headers", "print tables without the header line"),
    new Option("-w, --watch", "refresh on every change, until q or Ctrl-C"),
  ];
}

/** The columns of a listing and the source of its items. */
export interface Listing<Item> {
  readonly columns: readonly Column<Item>[];
  readonly nameOf: (item: Item) => string;
  readonly read: () => Promise<readonly Item[]>;
  /** Printed to stderr if there are no items, with a hint what to do. */
  readonly emptyText: string;
  /** Adds colours, after the table is aligned. */
  readonly colourLines?: (lines: readonly string[]) => string[];
  /** With `--watch` on a terminal: the title, and which items to show if not all fit. */
  readonly overview?: Overview<Item>;
}

export interface Overview<Item> {
  /** The line in several lengths, the longest first. The first one that fits is shown. */
  readonly title: (items: readonly Item[]) => readonly string[];
  /** Chooses the items to show if the screen has only this many rows. */
  readonly choose: (items: readonly Item[], rows: number) => readonly Item[];
  /** The line about the items that are not shown, in several lengths too. */
  readonly rest: (left: readonly Item[]) => readonly string[];
}

export async function list<Item>(context: Context, listing: Listing<Item>): Promise<undefined> {
  const { output, headers, watch: watches } = context.flags<ListFlags>();
  const { screen } = context;
  const render = async (rows?: number): Promise<string[]> => {
    const items = await listing.read();
    if (items.length === 0 && isTable(output)) return [];
    const format = { output, headers, width: screen.width() };
    const { overview } = listing;
    if (rows === undefined || overview === undefined || !isTable(output) || output === "name")
      return formatItems(listing, items, format);
    const room = { rows: headers ? rows - 1 : rows, width: screen.width() };
    return fitToScreen(overview, items, room, (shown) => formatItems(listing, shown, format));
  };
  if (watches) return watch(context, () => render(screen.height()), listing.emptyText);
  const lines = await render();
  if (lines.length > 0) context.print(lines.join("\n"));
  else context.note(listing.emptyText);
  return undefined;
}

const isTable = (output: ListFormat) => output !== "json" && output !== "yaml";

/** Returns the title, the items that fit on the screen, and a line about the others. */
async function fitToScreen<Item>(
  { title, choose, rest }: Overview<Item>,
  items: readonly Item[],
  { rows, width }: { readonly rows: number; readonly width: number | undefined },
  format: (shown: readonly Item[]) => Promise<string[]>,
): Promise<string[]> {
  const room = rows - titleRows;
  const head = [firstThatFits(title(items), width), ""];
  if (items.length <= room) return [...head, ...(await format(items))];
  const shown = new Set(choose(items, Math.max(1, room - 1)));
  const left = items.filter((item) => !shown.has(item));
  return [...head, ...(await format([...shown])), firstThatFits(rest(left), width)];
}

function firstThatFits(texts: readonly string[], width = Number.POSITIVE_INFINITY): string {
  return texts.find((text) => widthOf(text) <= width) ?? cutTo(texts.at(-1) ?? "", width);
}

/** The title, the empty line below it, and one line for a notice that the server is unreachable. */
const titleRows = 3;

async function formatItems<Item>(
  { columns, nameOf, colourLines = (lines) => [...lines] }: Listing<Item>,
  items: readonly Item[],
  { output, headers, width }: { output: ListFormat; headers: boolean; width: number | undefined },
): Promise<string[]> {
  switch (output) {
    case "name":
      return items.map((item) => plain(nameOf(item)));
    case "json":
    case "yaml":
      return [await formatData(items, output)];
    default:
      return colourLines(tableLines(columns, items, { wide: output === "wide", headers, width }));
  }
}

/** Loads the YAML library only for YAML. */
export async function formatData(value: unknown, output: "json" | "yaml"): Promise<string> {
  if (output === "json") return printableJson(value, 2);
  const { Document, visit } = await import("yaml");
  // Many readers know only YAML 1.1, for which `on` is true and `12:30:45` a number.
  const document = new Document(value, { compat: "yaml-1.1" });
  visit(document, {
    Scalar: (_, scalar) => {
      const { value: text } = scalar;
      // Multi-line text stays a block if it has nothing else that must be escaped, and no white space
      // at its end, which would be cut off with the last line of the document.
      if (
        typeof text === "string" &&
        (hasUnsafe(text.replaceAll("\n", "")) || /\s\n$|^\n$|^(?:<<|=)$/.test(text))
      ) {
        scalar.type = "QUOTE_DOUBLE";
      }
    },
  });
  return escapeForYaml(document.toString()).replace(/\n+$/, "");
}
