/** The tables of the guides that explain a policy's keys, made from the table of its fields. */
import { type Field, hasFields, inWords, isRequired, type Table } from "../core/model/fields.ts";
import { policyFields } from "../core/model/policy-fields.ts";
import { formatDuration } from "../core/model/time.ts";
import { formatNumber } from "./document.ts";
import { keysOf } from "./read-fields.ts";

/** In a guide, what stands between `<!-- fields: pace -->` and `<!-- end of fields -->`. */
const tables: ReadonlyMap<string, Table> = new Map([
  ["pool", policyFields],
  ...groupsOf(policyFields),
]);

/** The groups that have a table of their own, by key. */
function groupsOf(table: Table): [string, Table][] {
  return Object.values(table).flatMap(({ key, kind }): [string, Table][] => {
    if (!hasFields(kind)) return [];
    const inner = groupsOf(kind.fields);
    return kind.type === "inline" ? inner : [[key, kind.fields], ...inner];
  });
}

const block = /(?<=<!-- fields: (\w+) -->\n)[\s\S]*?(?=<!-- end of fields -->)/g;

/** The text of a guide with its tables as they should be. `guide` is the name of its file. */
export function withFieldTables(text: string, guide: string): string {
  return text.replace(block, (_, name: string) => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`Cannot write ${guide}: no table is called ${name}`);
    return `\n${fieldTable(table, guide)}\n\n`;
  });
}

function fieldTable(table: Table, guide: string): string {
  const head = ["| key | default | allowed | meaning |", "| --- | --- | --- | --- |"];
  return [...head, ...rowsOf(table, guide)].join("\n");
}

/** Of a group that stands inline nothing is required: without its keys there is no such group. */
function rowsOf(table: Table, guide: string, isInline = false): string[] {
  return Object.values(table).flatMap((field) => {
    const { key, kind } = field;
    if (kind.type === "inline") return rowsOf(kind.fields, guide, true);
    if (kind.type === "fixed") return [];
    const usual = isRequired(field) && !isInline ? "required" : defaultIn(field);
    return [`| \`${key}\` | ${usual} | ${allowedIn(field)} | ${meaning(field, guide)} |`];
  });
}

function meaning({ text, more }: Field, guide: string): string {
  if (more === undefined) return text;
  return `${text} [More](${more.startsWith(`${guide}#`) ? more.slice(guide.length) : more}).`;
}

function defaultIn(field: Field): string {
  const { default: usual, follows } = field;
  if (follows !== undefined) return `as \`${follows}\``;
  const words = Object.values(inWords({ usual: field }, { usual }))[0] ?? null;
  return words === null || typeof words === "object" ? "none" : `\`${words}\``;
}

function allowedIn({ kind, wire }: Field): string {
  switch (kind.type) {
    case "duration": {
      const range = `${formatDuration(kind.minMs)} to ${formatDuration(kind.maxMs)}`;
      return kind.also === "auto" ? `${range}, or \`auto\`` : range;
    }
    case "count":
    case "number":
      return `${formatNumber(kind.min)} to ${formatNumber(kind.max)}`;
    case "choice":
      return kind.choices.map((choice) => `\`${choice}\``).join(", ");
    case "choices":
      return "a list of these";
    case "flag":
      return "`true`, `false`";
    case "states":
      return "a list of states";
    case "state":
      return "a state";
    case "pool":
      return "a pool's name";
    case "group":
      // One that has another name in the file has more keys there.
      if (wire !== undefined) return "a map";
      return `\`{ ${keysOf(kind.fields).join(", ")} }\``;
    case "by-state":
      return `by state: \`{ ${keysOf(kind.fields).join(", ")} }\``;
    case "parts":
    case "outside":
    // These have no row of their own.
    case "inline":
    case "fixed":
      return "a map";
  }
}
