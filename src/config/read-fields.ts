/** Reads the fields of a table from the file. */
import { isMap } from "yaml";
import {
  type ByStateKind,
  type ChoiceKind,
  type Field,
  isValues,
  type Kind,
  type StatesKind,
  type Table,
  type Values,
} from "../core/model/fields.ts";
import { type ConfigDocument, readText, readWhole, refuseValue, type Spot } from "./document.ts";
import { titleOfList } from "./field-schemas.ts";
import { readParts } from "./read-capacity.ts";
import {
  type Entry,
  listOf,
  optionalNumber,
  readDuration,
  readKnown,
  readNamed,
  readState,
  scalarOf,
  withinLimit,
} from "./read-values.ts";
import { nameKind, stateKind } from "./text-kinds.ts";

/** What a file says of a table's fields. */
export interface WrittenFields {
  /** By property, groups as values of their own. What is not written or cannot be used is absent. */
  readonly values: Values;
  /** By key, those of groups as `pace/every`: no name has a slash. */
  readonly entries: ReadonlyMap<string, Entry>;
}

/** Keys that groups have beside those of their table, by the key of the group. */
export type MoreKeys = Readonly<Record<string, readonly string[]>>;

export function readFields(
  document: ConfigDocument,
  entries: ReadonlyMap<string, Entry>,
  table: Table,
  moreKeys: MoreKeys = {},
): WrittenFields {
  const reader = new FieldReader(document, moreKeys);
  const values = reader.read(table, entries, "");
  return { values, entries: reader.entries };
}

export function keysOf(table: Table): string[] {
  return Object.values(table).flatMap(({ key, kind }) => {
    if (kind.type === "inline") return keysOf(kind.fields);
    return kind.type === "fixed" ? [] : [key];
  });
}

class FieldReader {
  readonly entries = new Map<string, Entry>();
  readonly #document: ConfigDocument;
  readonly #moreKeys: MoreKeys;

  constructor(document: ConfigDocument, moreKeys: MoreKeys) {
    this.#document = document;
    this.#moreKeys = moreKeys;
  }

  read(table: Table, entries: ReadonlyMap<string, Entry>, path: string): Values {
    for (const [key, entry] of entries) this.entries.set(path + key, entry);
    const values: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(table)) {
      const value = this.#readField(field, entries, path);
      if (value !== undefined) values[name] = value;
    }
    return values;
  }

  #readField(field: Field, entries: ReadonlyMap<string, Entry>, path: string): unknown {
    const { key, kind } = field;
    if (kind.type === "inline") {
      const values = this.read(kind.fields, entries, path);
      return Object.keys(values).length === 0 ? undefined : values;
    }
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (kind.type === "by-state") return this.#readByState(kind, entry, path);
    if (kind.type !== "group") return readValue(this.#document, kind, entry);
    const known = this.#moreKeys[key] ?? keysOf(kind.fields);
    return this.#readGroup(kind.fields, entry.value, { ...kind, known, path: `${path}${key}/` });
  }

  #readGroup(table: Table, spot: Spot, { title, hint, known, path }: GroupForm): unknown {
    const entries = readKnown(this.#document, spot, known, { title, hint });
    return entries && this.read(table, entries, path);
  }

  #readByState(
    { fields, short, ...kind }: ByStateKind,
    entry: Entry,
    above: string,
  ): Values | undefined {
    const states = { ...kind, names: stateKind, max: kind.statesMax, of: "states" };
    const entries = readNamed(this.#document, entry, states);
    const shortKind = fields[short]?.kind;
    const groups = entries.flatMap((group) => {
      const path = `${above}${entry.key}/${group.key}`;
      this.entries.set(path, group);
      const form = { title: entry.key, hint: kind.groupHint, known: keysOf(fields) };
      if (isMap(group.value.node) || shortKind === undefined) {
        const values = this.#readGroup(fields, group.value, { ...form, path: `${path}/` });
        return isValues(values) ? [[group.key, values]] : [];
      }
      const value = readValue(this.#document, shortKind, group);
      return value === undefined ? [] : [[group.key, { [short]: value }]];
    });
    return groups.length === 0 ? undefined : Object.fromEntries(groups);
  }
}

interface GroupForm {
  readonly title: string;
  readonly hint: string;
  readonly known: readonly string[];
  readonly path: string;
}

/** Undefined, with the reason in the source, if it cannot be used. */
function readValue(document: ConfigDocument, kind: Kind, entry: Entry): unknown {
  const { source } = document;
  switch (kind.type) {
    case "duration":
      if (kind.also === "auto" && scalarOf(entry.value) === "auto") return "auto";
      return readDuration(source, entry.value, kind);
    case "count":
      return readWhole(source, entry.value, kind);
    case "number":
      return optionalNumber(document, entry, kind);
    case "state":
      return readState(source, entry);
    case "pool":
      return readText(source, entry.value, nameKind);
    case "choice":
      return readChoice(document, entry.value, kind);
    case "choices":
      return readChoices(document, entry.value, kind);
    case "flag":
      return readFlag(source, entry.value);
    case "states":
      return readStates(document, entry.value, kind);
    case "parts":
      return readParts(document, entry);
    // No single values: a group is read field by field, and a hidden field is not read here.
    case "group":
    case "by-state":
    case "inline":
    case "fixed":
    case "outside":
      return undefined;
  }
}

function readFlag(source: ConfigDocument["source"], spot: Spot): boolean | undefined {
  const value = scalarOf(spot);
  if (typeof value === "boolean") return value;
  refuseValue(source, spot, { title: "yes or no", hint: "write true or false" });
  return undefined;
}

function readStates(document: ConfigDocument, spot: Spot, { max }: StatesKind) {
  const items = listOf(document, spot, "list of states");
  if (!withinLimit(document, spot, { count: items.length, max, of: "states" })) return undefined;
  const states = items.flatMap((item) => readText(document.source, item, stateKind) ?? []);
  return states.length === 0 ? undefined : states;
}

function readChoice(
  document: ConfigDocument,
  spot: Spot,
  { title, choices }: ChoiceKind,
): string | undefined {
  // YAML 1.1 has `off` for false, and so may what wrote this file.
  const value = scalarOf(spot) === false ? "off" : scalarOf(spot);
  const choice = choices.find((known) => known === value);
  if (choice === undefined) {
    refuseValue(document.source, spot, { title, hint: `write ${choices.join(", ")}` });
  }
  return choice;
}

function readChoices(document: ConfigDocument, spot: Spot, kind: ChoiceKind) {
  const chosen = listOf(document, spot, titleOfList(kind)).flatMap(
    (item) => readChoice(document, item, kind) ?? [],
  );
  return chosen.length === 0 ? undefined : chosen;
}
