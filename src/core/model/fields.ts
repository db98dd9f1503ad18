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

export type Kind =
  | DurationKind
  | NumberKind
  | ChoiceKind
  | NamedKind
  | GroupKind
  | ByStateKind
  | InlineKind
  | HiddenKind;

export interface Field<Value = unknown> {
  /** In the file, and on the wire unless `wire` is another. */
  readonly key: string;
  readonly wire?: string;
  readonly kind: Kind;
  /** Absent or null: nothing, unless it is required. */
  readonly default?: Value | null;
  readonly required?: true;
  /** For people: the default is what another field has. */
  readonly follows?: string;
  /** On the page. */
  readonly label: string;
  /** What it does, for editors, the API's documentation and the guides. */
  readonly text: string;
  readonly examples?: readonly unknown[];
  /** Where the guides say more: a path from `docs/guides`. */
  readonly more?: string;
}

export type Table = Readonly<Record<string, Field>>;

/** A row for each property of a policy: a property without a row does not compile. */
export type Fields<Policy> = { readonly [Name in keyof Policy]-?: Field<Policy[Name]> };

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
      : K extends NumberKind
        ? number
        : string;

type Nothing<Row extends Field> = Row extends
  | { readonly default: string | number }
  | { readonly required: true }
  | { readonly kind: ByStateKind }
  ? never
  : null;

export function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null;
}

/** Whether nothing takes its place where it is not set: it is null on the wire. */
export function mayBeNothing({ default: usual, required, kind }: Field): boolean {
  return (usual ?? null) === null && required !== true && kind.type !== "by-state";
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

export function isOnWire({ type }: Kind): boolean {
  return type !== "fixed" && type !== "outside" && type !== "inline";
}

function valueInWords(kind: Kind, value: unknown): unknown {
  if (kind.type === "duration" && typeof value === "number") return formatDuration(value);
  if (kind.type === "group" && isValues(value)) return inWords(kind.fields, value);
  if (kind.type !== "by-state") return value ?? null;
  const groups = Object.entries(isValues(value) ? value : {});
  return Object.fromEntries(
    groups.map(([state, group]) => [state, isValues(group) && inWords(kind.fields, group)]),
  );
}

/**
 * A whole policy: what is written, else what was there before, else the default. Groups are completed
 * in the same way, so one new value leaves those beside it alone. Undefined if a required value is
 * neither written nor was there.
 */
export function complete<Policy>(
  table: Fields<Policy>,
  written: Values,
  before: Values = {},
): Policy | undefined {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<Field>(table)) {
    const value = completeValue(field, written[name], before[name]);
    if (value !== undefined) values[name] = value;
    else if (field.required) return undefined;
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
  const old = isValues(before) ? before : {};
  if (!isValues(written)) return written;
  if (kind.type === "group" || kind.type === "inline") return complete(kind.fields, written, old);
  if (kind.type !== "by-state") return written;
  const groups = Object.entries(written).flatMap(([state, group]) => {
    const was = old[state];
    if (!isValues(group)) return [];
    const whole = complete(kind.fields, group, isValues(was) ? was : {});
    return whole === undefined ? [] : [[state, whole]];
  });
  const all = { ...old, ...Object.fromEntries(groups) };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** For tables in which nothing is required. */
export function defaultsOf<Policy>(table: Fields<Policy>): Policy {
  const policy = complete(table, {});
  if (policy === undefined) throw new Error("Cannot use defaults: a required field has none");
  return policy;
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
