/** A pool's policy as the API answers it: every field of the table, in the words of the file. */
import Type, { type TSchema } from "typebox";
import {
  type Field,
  type InWords,
  isOnWire,
  mayBeNothing,
  type Table,
  type WireKind,
} from "../core/model/fields.ts";
import { policyFields } from "../core/model/policy-fields.ts";

export const Policy = Type.Unsafe<InWords<typeof policyFields>>(objectOf(policyFields));

function objectOf(table: Table, description?: string): TSchema {
  const properties: Record<string, TSchema> = {};
  for (const field of Object.values(table)) {
    const { wire = field.key, kind } = field;
    if (isOnWire(kind)) properties[wire] = schemaOf(field, kind);
  }
  return Type.Object(properties, description === undefined ? {} : { description });
}

function schemaOf(field: Field, kind: WireKind): TSchema {
  const schema = valueSchema(kind, field.text);
  // As `type: [T, "null"]`: serialisers have a quick way for it, and none for `anyOf`.
  return mayBeNothing(field) && "type" in schema
    ? { ...schema, type: [schema.type, "null"] }
    : schema;
}

function valueSchema(kind: WireKind, description: string): TSchema {
  switch (kind.type) {
    case "count":
      return Type.Integer({ description });
    case "number":
      return kind.whole ? Type.Integer({ description }) : Type.Number({ description });
    case "duration":
    case "choice":
    case "state":
    case "pool":
      return Type.String({ description });
    case "flag":
      return Type.Boolean({ description });
    case "choices":
    case "states":
      return Type.Array(Type.String(), { description });
    case "parts":
      return Type.Unknown({ description });
    case "group":
      return objectOf(kind.fields, description);
    case "by-state":
      return Type.Record(Type.String(), objectOf(kind.fields), { description });
  }
}
