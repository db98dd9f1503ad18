/**
 * Tables of fields. One row holds all that there is to know about one value of a policy: its key in
 * the file, what it may be, its default, its label and its meaning. The JSON Schema, the reader, the
 * API, what-if, the page and the guides are all derived from rows.
 */
import { formatDuration } from "./time.ts";

export interface DurationKind {
  readonly type: "duration";
  readonly minMs: number;
  readonly maxMs: number;
  /** What may be written instead of a number and a unit: YAML reads a bare 0 as a number. */
  readonly also?: 0 | "auto";
}

export interface NumberKind {
  /** `count` and `number` differ in the hints that refuse them only. */
  readonly type: "count" | "number";
  readonly min: number;
  readonly max: number;
  readonly whole?: true;
  /** The noun of the JSON Schema, where it is more than a number. */
  readonly title?: string;
}

export interface ChoiceKind {
  /** `choices` is a list of them. */
  readonly type: "choice" | "choices";
  readonly title: string;
  readonly choices: readonly string[];
}

/** The name of a state, the name of a pool, and what `parts` holds, which has a form of its own. */
export interface NamedKind {
  readonly type: "state" | "pool" | "parts";
}

/** A map with fields of its own. */
export interface GroupKind<Inner extends Table = Table> {
  readonly type: "group";
  /** The noun of messages, and what to write instead of something else. */
  readonly title: string;
  readonly hint: string;
  readonly fields: Inner;
}

/** A map from states to such groups. `short` may be written alone instead of the group. */
export interface ByStateKind<Inner extends Table = Table> extends Omit<GroupKind<Inner>, "type"> {
  readonly type: "by-state";
  readonly short: string;
  readonly groupHint: string;
  readonly statesMax: number;
}

/** A group whose fields stand in the file beside the group, not inside of it; not on the wire. */
export interface InlineKind<Inner extends Table = Table> {
  readonly type: "inline";
  readonly fields: Inner;
}

/** `fixed`: nobody can set it. `outside`: another part of the program reads and shows it. */
export interface HiddenKind {
  readonly type: "fixed" | "outside";
}

/** A kind whose value is not made of fields of its own. */
export type ValueKind = DurationKind | NumberKind | ChoiceKind | NamedKind;

/** A kind that the API answers as a value under a key of its own. */
export type WireKind = ValueKind | GroupKind | ByStateKind;

/** Code that depends on a kind is a `switch` without `default`: a new kind must get a case there. */
export type Kind = WireKind | InlineKind | HiddenKind;

/** A kind whose value is made of fields of its own. */
export type CompositeKind = Extract<Kind, { readonly fields: Table }>;

export interface Field<Value = unknown> {
  /** In the file, and on the wire unless `wire` is another. */
  readonly key: string;
  readonly wire?: string;
  readonly kind: Kind;
  /** In force unless something else is written; null: nothing. Without it the field is required. */
  readonly default?: Value | null;
  /** A policy need not have this property, so it needs no default either. */
  readonly optional?: true;
  /** For people: the default is what another field has. */
  readonly follows?: string;
  /** On the page. */
  readonly label: string;
  /** What it does, for editors, the API's documentation and the guides. */
  readonly text: string;
  /** The first is also what a message proposes where a required field is missing. */
  readonly examples?: readonly unknown[];
  /** Where the guides say more: a path from `docs/guides`. */
  readonly more?: string;
}

export type Table = Readonly<Record<string, Field>>;

/**
 * A row for each property of a policy. It does not compile if a property has no row, if the row of an
 * optional property is not `optional`, or if a required field has no example.
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

/** A table with these rows, whatever they say. */
type RowsFor<Policy> = { readonly [Name in keyof Policy]-?: Field };

/** Values by property, as a policy has them. */
export type Values = Readonly<Record<string, unknown>>;

/** The policy that a table describes, in the words of the file: `ttlMs: 90_000` is `ttl: "90s"`. */
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
  state: string;
  pool: string;
  parts: unknown;
}>;

/** Does not compile while a kind is missing. */
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

/** Whether a group cannot be used without it. */
export function isRequired({ default: usual, optional }: Field): boolean {
  return usual === undefined && optional !== true;
}

/** Whether nothing takes its place where it is not set: it is null on the wire. */
export function mayBeNothing({ default: usual, optional, kind }: Field): boolean {
  return (usual === null || optional === true) && kind.type !== "by-state";
}

/** Durations as text, what is not set as null, each under its key on the wire. */
export function inWords<Rows extends Table>(table: Rows, policy: object): InWords<Rows> {
  const words: Record<string, unknown> = {};
  const values: Values = { ...policy };
  for (const [name, { kind, key, wire = key }] of Object.entries(table)) {
    if (isOnWire(kind)) words[wire] = valueInWords(kind, values[name]);
  }
  // An object that is made key by key: the types above say what its keys are.
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
 * A whole policy: what is written, else what was there before, else the default. Groups are completed
 * in the same way, so one new value leaves those beside it alone. Undefined if a required value is
 * neither written nor was there.
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
  // As above: each property has a row, and what reads values looks at the row's kind.
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

/** For tables in which nothing is required. */
export function defaultsOf<Policy>(table: RowsFor<Policy>): Policy {
  const policy = complete<Policy>(table, {});
  if (policy !== undefined) return policy;
  const required = Object.values<Field>(table).find(isRequired)?.key;
  throw new Error(
    `Cannot use defaults: ${required} has none (give its row a default, or optional: true)`,
  );
}

/** The field that a path of keys leads to, as `pace.every` does in the file. */
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
