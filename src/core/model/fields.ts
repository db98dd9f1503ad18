/**
 * Tables of fields. One row describes one value of a policy: its key in the file, its kind,
 * default, label and meaning. The JSON Schema, the parser, the API, what-if, the page and the
 * guides are all derived from the rows.
 */
import { formatDuration } from "./time.ts";

export interface DurationKind {
  readonly type: "duration";
  readonly minMs: number;
  readonly maxMs: number;
  /** A value that is allowed instead of a number with a unit. YAML reads a bare 0 as a number. */
  readonly also?: 0 | "auto";
}

export interface NumberKind {
  /** `count` and `number` differ only in the hints of their errors. */
  readonly type: "count" | "number";
  readonly min: number;
  readonly max: number;
  readonly whole?: true;
  /** The title in the JSON Schema, if "number" is not enough. */
  readonly title?: string;
}

export interface ChoiceKind {
  /** `choice` is one value, `choices` a list. */
  readonly type: "choice" | "choices";
  readonly title: string;
  readonly choices: readonly string[];
}

/** Yes or no. */
export interface FlagKind {
  readonly type: "flag";
}

/** A list of states. */
export interface StatesKind {
  readonly type: "states";
  readonly max: number;
}

/** The name of a state or of a pool, or `parts`, which has its own format. */
export interface NamedKind {
  readonly type: "state" | "pool" | "parts";
}

/** A map that has its own fields. */
export interface GroupKind<Inner extends Table = Table> {
  readonly type: "group";
  /** The noun in messages, and the hint for a wrong value. */
  readonly title: string;
  readonly hint: string;
  readonly fields: Inner;
}

/** A map from states to groups. The field `short` may be written alone instead of the group. */
export interface ByStateKind<Inner extends Table = Table> extends Omit<GroupKind<Inner>, "type"> {
  readonly type: "by-state";
  readonly short: string;
  readonly groupHint: string;
  readonly statesMax: number;
}

/** A group whose fields are next to the group in the file, not inside it. Not on the wire. */
export interface InlineKind<Inner extends Table = Table> {
  readonly type: "inline";
  readonly fields: Inner;
}

/** `fixed`: cannot be set. `outside`: another part of the program reads and shows it. */
export interface HiddenKind {
  readonly type: "fixed" | "outside";
}

/** A kind whose value has no fields of its own. */
export type ValueKind = DurationKind | NumberKind | ChoiceKind | FlagKind | StatesKind | NamedKind;

/** A kind that the API returns as a value with its own key. */
export type WireKind = ValueKind | GroupKind | ByStateKind;

/**
 * Code that depends on a kind uses a `switch` without `default`, so that a new kind needs a case.
 */
export type Kind = WireKind | InlineKind | HiddenKind;

/** A kind whose value has its own fields. */
export type CompositeKind = Extract<Kind, { readonly fields: Table }>;

export interface Field<Value = unknown> {
  /** The key in the file, and on the wire unless `wire` is set. */
  readonly key: string;
  readonly wire?: string;
  readonly kind: Kind;
  /** The value if none is written; null: none. Absent: the field is required. */
  readonly default?: Value | null;
  /** The policy may lack this property, so the field needs no default. */
  readonly optional?: true;
  /** The default is the value of this other field. For people. */
  readonly follows?: string;
  /** The label on the page. */
  readonly label: string;
  /** The meaning, for editors, the API's documentation and the guides. */
  readonly text: string;
  /** Messages propose the first one if a required field is missing. */
  readonly examples?: readonly unknown[];
  /** The guide that has more, as a path from `docs/guides`. */
  readonly more?: string;
}

export type Table = Readonly<Record<string, Field>>;

/**
 * One row for each property of a policy. Does not compile if a property has no row, if the row of
 * an optional property is not `optional`, or if a required field has no example.
 */
export type Fields<Policy> = {
  readonly [Name in keyof Policy]-?: Field<Policy[Name]> &
    (object extends Pick<Policy, Name> ? OptionalRow : DefaultRow | RequiredRow);
};

interface OptionalRow {
  readonly optional: true;
}

interface DefaultRow {
  readonly optional?: never;
  readonly default: unknown;
}

interface RequiredRow {
  readonly optional?: never;
  readonly default?: never;
  readonly examples: readonly [unknown, ...unknown[]];
}

/** A table with these rows, without checks of their content. */
type RowsFor<Policy> = { readonly [Name in keyof Policy]-?: Field };

/** The values of a policy, by property. */
export type Values = Readonly<Record<string, unknown>>;

/** The policy of a table, with the keys and units of the file: `ttlMs: 90_000` is `ttl: "90s"`. */
export type InWords<Rows extends Table> = {
  [Name in keyof Rows as WordFor<Rows[Name]>]: Words<Rows[Name]["kind"]> | Nothing<Rows[Name]>;
};

type WordFor<Row extends Field> = Row["kind"] extends HiddenKind | InlineKind
  ? never
  : Row extends { readonly wire: infer Word extends string }
    ? Word
    : Row["key"];

type Words<K extends Kind> =
  K extends GroupKind<infer Inner>
    ? InWords<Inner>
    : K extends ByStateKind<infer Inner>
      ? Readonly<Record<string, InWords<Inner>>>
      : K extends ValueKind
        ? WireValues[K["type"]]
        : never;

type WireValues = ForEachKind<{
  duration: string;
  count: number;
  number: number;
  choice: string;
  choices: readonly string[];
  flag: boolean;
  states: readonly string[];
  state: string;
  pool: string;
  parts: unknown;
}>;

/** Does not compile if a kind is missing. */
type ForEachKind<Values extends Record<ValueKind["type"], unknown>> = Values;

type Nothing<Row extends Field> = Row extends { readonly kind: ByStateKind }
  ? never
  : Row extends { readonly default: null } | { readonly optional: true }
    ? null
    : never;

export function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null;
}

function valuesOf(value: unknown): Values {
  return isValues(value) ? value : {};
}

export function hasFields(kind: Kind): kind is CompositeKind {
  return "fields" in kind;
}

/** Whether the field must be written. */
export function isRequired({ default: usual, optional }: Field): boolean {
  return usual === undefined && optional !== true;
}

/** Whether the field has no value if it is not set. It is then null on the wire. */
export function mayBeNothing({ default: usual, optional, kind }: Field): boolean {
  return (usual === null || optional === true) && kind.type !== "by-state";
}

/**
 * Converts a policy for the wire: durations as text, unset fields as null, with the wire's keys.
 */
export function inWords<Rows extends Table>(table: Rows, policy: object): InWords<Rows> {
  const words: Record<string, unknown> = {};
  const values: Values = { ...policy };
  for (const [name, { kind, key, wire = key }] of Object.entries(table)) {
    if (isOnWire(kind)) words[wire] = valueInWords(kind, values[name]);
  }
  // The object is built key by key, so the compiler cannot check its keys.
  return words as InWords<Rows>;
}

export function isOnWire(kind: Kind): kind is WireKind {
  return kind.type !== "fixed" && kind.type !== "outside" && kind.type !== "inline";
}

function valueInWords(kind: WireKind, value: unknown): unknown {
  switch (kind.type) {
    case "duration":
      return typeof value === "number" ? formatDuration(value) : (value ?? null);
    case "count":
    case "number":
    case "choice":
    case "choices":
    case "flag":
    case "states":
    case "state":
    case "pool":
    case "parts":
      return value ?? null;
    case "group":
      return isValues(value) ? inWords(kind.fields, value) : null;
    case "by-state": {
      const groups = Object.entries(valuesOf(value));
      return Object.fromEntries(
        groups.map(([state, group]) => [state, inWords(kind.fields, valuesOf(group))]),
      );
    }
  }
}

/**
 * Completes a policy: the written value, else the earlier value, else the default. Completes groups
 * in the same way, so a new value in a group does not change the others. Returns undefined if a
 * required value is missing.
 */
export function complete<Policy>(
  table: RowsFor<Policy>,
  written: Values,
  before: Values = {},
): Policy | undefined {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<Field>(table)) {
    const value = completeValue(field, written[name], before[name]);
    if (value !== undefined) values[name] = value;
    else if (isRequired(field)) return undefined;
  }
  // As above: each property has a row, and the row's kind determines the type of the value.
  return values as Policy;
}

function completeValue(
  { kind, default: usual }: Field,
  written: unknown,
  before: unknown,
): unknown {
  if (written === undefined) return before ?? usual;
  if (!hasFields(kind)) return written;
  switch (kind.type) {
    case "group":
    case "inline":
      return isValues(written) ? complete(kind.fields, written, valuesOf(before)) : written;
    case "by-state":
      return completeByState(kind, valuesOf(written), valuesOf(before));
  }
}

function completeByState(kind: ByStateKind, written: Values, before: Values): Values | undefined {
  const groups = Object.entries(written).flatMap(([state, group]) => {
    const whole = complete(kind.fields, valuesOf(group), valuesOf(before[state]));
    return whole === undefined ? [] : [[state, whole]];
  });
  const all = { ...before, ...Object.fromEntries(groups) };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** Returns the defaults. Only for tables without required fields. */
export function defaultsOf<Policy>(table: RowsFor<Policy>): Policy {
  const policy = complete<Policy>(table, {});
  if (policy !== undefined) return policy;
  const required = Object.values<Field>(table).find(isRequired)?.key;
  throw new Error(
    `Cannot use defaults: ${required} has none (give its row a default, or optional: true)`,
  );
}

/** Returns the field at a path of keys, such as `pace.every` in the file. */
export function fieldAt(table: Table, path: readonly string[]): Field | undefined {
  const [key, ...rest] = path;
  for (const field of Object.values(table)) {
    const { kind } = field;
    if (kind.type === "inline") {
      const inner = fieldAt(kind.fields, path);
      if (inner !== undefined) return inner;
    } else if (field.key === key && kind.type !== "fixed") {
      if (rest.length === 0) return field;
      if (kind.type === "group") return fieldAt(kind.fields, rest);
      if (kind.type !== "by-state") return undefined;
      return rest.length === 1 ? kind.fields[kind.short] : fieldAt(kind.fields, rest.slice(1));
    }
  }
  return undefined;
}
