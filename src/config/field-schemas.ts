/** What tables of fields come to as JSON Schema, for editors. */
import Type, { type TSchema } from "typebox";
import {
  type ByStateKind,
  type ChoiceKind,
  type DurationKind,
  type Field,
  type GroupKind,
  isRequired,
  type NumberKind,
  type Table,
} from "../core/model/fields.ts";
import { durationPattern, formatDuration } from "../core/model/time.ts";
import { Parts } from "./capacity-schema.ts";
import { StateName } from "./schema-fields.ts";

type Properties = Record<string, TSchema>;

const closed = { additionalProperties: false } as const;

/** By key, in the order of the table. `others` are the schemas of what tables do not describe. */
export function propertiesOf(table: Table, others: Properties = {}): Properties {
  const properties: Properties = {};
  for (const field of Object.values(table)) {
    const { key, kind } = field;
    if (kind.type === "inline") {
      // None of its keys is required: without them there is no such group.
      const inner = Object.entries(propertiesOf(kind.fields));
      for (const [innerKey, schema] of inner) properties[innerKey] = Type.Optional(schema);
      continue;
    }
    const schema = others[key] ?? schemaOf(field);
    if (schema !== undefined) properties[key] = isRequired(field) ? schema : Type.Optional(schema);
  }
  return properties;
}

/** By key: the keys without which it cannot be used, for keys that stand beside each other. */
export function dependenciesOf(table: Table): Record<string, readonly string[]> {
  const dependencies: Record<string, readonly string[]> = {};
  for (const { kind } of Object.values(table)) {
    if (kind.type !== "inline") continue;
    const rows = Object.values(kind.fields);
    const needed = rows.filter(isRequired).map(({ key }) => key);
    for (const { key } of rows) if (!needed.includes(key)) dependencies[key] = needed;
  }
  return dependencies;
}

function schemaOf(field: Field): TSchema | undefined {
  const { kind } = field;
  switch (kind.type) {
    case "duration":
      return durationSchema(field, kind);
    case "count":
    case "number":
      return numberSchema(field, kind);
    case "state":
      return Type.String({ ...StateName, ...about(field), examples: ["free", "dirty"] });
    case "pool":
      return Type.String({ title: "name of a pool", ...about(field), pattern: poolPattern });
    case "choice":
      return choiceSchema(kind, about(field));
    case "choices":
      return choicesSchema(field, kind);
    case "flag":
      return Type.Boolean({ title: "true or false", ...about(field) });
    case "states":
      return Type.Array(StateName, {
        title: "list of states",
        ...about(field),
        maxItems: kind.max,
      });
    case "parts":
      return { ...Parts, ...about(field) };
    case "group":
      return groupSchema(field, kind);
    case "by-state":
      return byStateSchema(field, kind);
    // The fields of an inline group stand beside it, and the schema of another is known elsewhere.
    case "inline":
    case "fixed":
    case "outside":
      return undefined;
  }
}

const poolPattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$";

function about({ text, examples, default: usual, follows }: Field) {
  // What follows another field has no default of its own.
  const hasDefault = usual !== undefined && usual !== null && follows === undefined;
  return {
    description: text,
    ...(hasDefault ? { default: usual } : undefined),
    ...(examples === undefined ? undefined : { examples }),
  };
}

function durationSchema(field: Field, { minMs, maxMs, also }: DurationKind): TSchema {
  const { default: usual } = field;
  const options = {
    title: also === "auto" ? "duration, or auto" : "duration",
    ...about(field),
    description: `${field.text} From ${formatDuration(minMs)} to ${formatDuration(maxMs)}.`,
    ...(typeof usual === "number" ? { default: formatDuration(usual) } : undefined),
  };
  const Span = Type.String({ pattern: durationPattern });
  if (also === undefined) return { ...Span, ...options };
  return Type.Union([Span, Type.Literal(also)], options);
}

function numberSchema(field: Field, { type, min, max, whole, title }: NumberKind): TSchema {
  const isWhole = type === "count" || whole === true;
  const usualTitle = isWhole ? "whole number" : "number";
  const options = { title: title ?? usualTitle, ...about(field), minimum: min, maximum: max };
  return isWhole ? Type.Integer(options) : Type.Number(options);
}

function choiceSchema({ title, choices }: ChoiceKind, options: object): TSchema {
  const forms = choices.map((choice) => Type.Literal(choice));
  return Type.Union(forms, { title, ...options });
}

export function titleOfList({ title }: ChoiceKind): string {
  return `list of ${title.replace(/y$/, "ies")}`;
}

function choicesSchema(field: Field, kind: ChoiceKind): TSchema {
  const one = { description: "One of these.", examples: kind.choices.slice(0, 1) };
  return Type.Array(choiceSchema(kind, one), { title: titleOfList(kind), ...about(field) });
}

function groupSchema(field: Field, { title, fields }: GroupKind): TSchema {
  return Type.Object(propertiesOf(fields), { title, ...about(field), ...closed });
}

function byStateSchema(field: Field, { title, fields, short, statesMax }: ByStateKind): TSchema {
  const alone = fields[short] && schemaOf(fields[short]);
  const rule = Type.Object(propertiesOf(fields), { title: field.key, ...closed });
  return Type.Record(StateName, alone === undefined ? rule : Type.Union([alone, rule]), {
    title,
    ...about(field),
    ...closed,
    maxProperties: statesMax,
  });
}
