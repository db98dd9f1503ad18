import { Option } from "commander";
import type { Context } from "./cli-command.ts";
import { flag, type ListFormat, listFormats, outputFlag } from "./flags.ts";
import { type Column, tableLines } from "./table.ts";
import { watch } from "./watch.ts";

export interface ListFlags {
  readonly output: ListFormat;
  readonly headers: boolean;
  readonly watch?: boolean;
}

export function listOptions(): Option[] {
  return [
    outputFlag(...listFormats),
    flag("--no-headers", "tables without their first line"),
    new Option("-w, --watch", "show it again whenever it changes, until Ctrl-C"),
  ];
}

/** What a listing shows and where that comes from. */
export interface Listing<Item> {
  readonly columns: readonly Column<Item>[];
  readonly nameOf: (item: Item) => string;
  readonly read: () => Promise<readonly Item[]>;
  /** Said on stderr when there is nothing, with what to do now. */
  readonly none: string;
  /** Colours, put on after everything has been aligned. */
  readonly adorn?: (lines: readonly string[]) => string[];
}

export async function list<Item>(context: Context, listing: Listing<Item>): Promise<undefined> {
  const { output, headers, watch: watches } = context.flags<ListFlags>();
  const render = async (width?: number): Promise<string[]> => {
    const items = await listing.read();
    if (items.length === 0 && isTable(output)) return [];
    return formatted(listing, items, { output, headers, width });
  };
  if (watches) return watch(context, () => render(context.screen.width()), listing.none);
  const lines = await render(context.screen.width());
  if (lines.length > 0) context.print(lines.join("\n"));
  else context.note(listing.none);
  return undefined;
}

const isTable = (output: ListFormat) => output !== "json" && output !== "yaml";

async function formatted<Item>(
  { columns, nameOf, adorn = (lines) => [...lines] }: Listing<Item>,
  items: readonly Item[],
  { output, headers, width }: { output: ListFormat; headers: boolean; width: number | undefined },
): Promise<string[]> {
  switch (output) {
    case "name":
      return items.map(nameOf);
    case "json":
    case "yaml":
      return [await asData(items, output)];
    default:
      return adorn(tableLines(columns, items, { wide: output === "wide", headers, width }));
  }
}

/** The YAML library is loaded only when somebody wants YAML. */
export async function asData(value: unknown, output: "json" | "yaml"): Promise<string> {
  if (output === "json") return JSON.stringify(value, undefined, 2);
  const { stringify } = await import("yaml");
  return stringify(value).trimEnd();
}
