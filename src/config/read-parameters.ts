/** How parameters of templates are read: their schemas, and values for them. */

import { Compile } from "typebox/compile";
import { isSeq } from "yaml";
import {
  credentialsParameter,
  type Parameters,
  type ParameterValue,
} from "../core/model/cluster.ts";
import { entryOf } from "../core/model/entries.ts";
import { nearest } from "../core/model/nearest.ts";
import { type ConfigDocument, describe, quote, refuseValue, type Spot } from "./document.ts";
import { templateLimits } from "./limits.ts";
import { matches } from "./matches.ts";
import { isMisread, quoteHint, refuseMisread } from "./misread-numbers.ts";
import { type Entry, listOf, readKnown, readNamed, scalarOf } from "./read-values.ts";
import { Parameter } from "./schema-templates.ts";
import type { ParameterSchema, TemplateSpec } from "./template-spec.ts";
import { parameterNameKind } from "./text-kinds.ts";

type Schemas = TemplateSpec["parameters"];

const schemas = {
  title: "map of parameters",
  hint: 'write { version: { enum: ["4.19", "4.20"] } }',
  names: parameterNameKind,
  max: templateLimits.parametersMax,
  of: "parameters",
};
const schemaExpected = {
  title: "parameter",
  hint: "write a JSON Schema, such as { type: integer, maximum: 6 }",
};
const schemaKeys = Object.keys(Parameter.properties);

export function readParameterSchemas(document: ConfigDocument, field: Entry | undefined): Schemas {
  if (field === undefined) return {};
  const found = readNamed(document, field, schemas).flatMap((entry) => {
    if (entry.key === credentialsParameter) {
      document.source.refuse(entry.at, "Berth uses this name itself", "choose another name");
    }
    const schema = readSchema(document, entry);
    return schema === undefined ? [] : [[entry.key, schema] as const];
  });
  return Object.fromEntries(found);
}

/** Undefined, with the reason in the source, if no value could ever match it. */
function readSchema(document: ConfigDocument, entry: Entry): ParameterSchema | undefined {
  const { source } = document;
  const fields = readKnown(document, entry.value, schemaKeys, schemaExpected);
  if (fields === undefined) return undefined;
  const schema: Record<string, unknown> = {};
  const valueSpots: Spot[] = [];
  for (const [key, { value }] of fields) {
    const items = isSeq(value.node) ? listOf(document, value, "list of values") : undefined;
    schema[key] = items === undefined ? scalarOf(value) : items.map((item) => scalarOf(item));
    if (key === "enum" || key === "default") valueSpots.push(...(items ?? [value]));
  }
  const wrong = wrongIn(schema);
  if (wrong !== undefined) {
    const at = fields.get(wrong)?.value ?? entry.value;
    refuseValue(source, at, { title: `${wrong} of a parameter`, hint: schemaExpected.hint });
    return undefined;
  }
  const misread = valueSpots.filter((spot) => isMisread(schema, spot));
  for (const spot of misread) refuseMisread(source, spot);
  if (misread.length > 0) return undefined;
  const usual = schema["default"];
  if (usual !== undefined && !matches(schema, usual)) {
    const at = fields.get("default")?.value ?? entry.value;
    const state = `${describe(at.node)} is not allowed by its own schema`;
    source.refuse(at, state, quoteHint(schema, at) ?? "change one of them");
    return undefined;
  }
  return schema;
}

const schemaForm = Compile(Parameter);

/** The keyword that has a value of the wrong kind. */
function wrongIn(schema: ParameterSchema): string | undefined {
  if (!schemaForm.Check(schema)) {
    const [first] = schemaForm.Errors(schema);
    return first?.instancePath.split("/")[1] ?? "type";
  }
  try {
    const { pattern } = schema;
    if (typeof pattern === "string") new RegExp(pattern, "u");
    return undefined;
  } catch {
    return "pattern";
  }
}

const values = {
  title: "map of values",
  hint: "write { region: us-east-1 }",
  names: parameterNameKind,
  max: templateLimits.parametersMax,
  of: "parameters",
};

export function readParameterValues(
  document: ConfigDocument,
  field: Entry | undefined,
): ReadonlyMap<string, readonly [ParameterValue, Spot]> {
  if (field === undefined) return new Map();
  const found = readNamed(document, field, values).flatMap(({ key, value }) => {
    const scalar = scalarOf(value);
    if (scalar !== undefined && scalar !== null) return [[key, [scalar, value]] as const];
    refuseValue(document.source, value, { title: "text, number or boolean", hint: values.hint });
    return [];
  });
  return new Map(found);
}

/** The parameters of the clusters that a pool keeps: its own values, else the defaults. */
export function stockParameters(
  document: ConfigDocument,
  field: Entry | undefined,
  { parameters, pinned, name }: TemplateSpec,
): Parameters {
  const written = readParameterValues(document, field);
  for (const [key, [value, at]] of written) {
    const schema = entryOf(parameters, key);
    if (Object.hasOwn(pinned, key)) {
      document.source.refuse(at, `the template ${quote(name)} has pinned it`, "remove it");
    } else if (schema === undefined) {
      const meant = nearest(key, Object.keys(parameters));
      const hint = meant === undefined ? "remove it" : `did you mean ${meant}?`;
      document.source.refuse(at, `the template ${quote(name)} has no such parameter`, hint);
    } else if (!matches(schema, value)) {
      const state = `${describe(at.node)} is not allowed by the template ${quote(name)}`;
      const allowed = `write what its schema allows: ${JSON.stringify(schema)}`;
      document.source.refuse(at, state, quoteHint(schema, at) ?? allowed);
    } else if (isMisread(schema, at)) {
      refuseMisread(document.source, at);
    }
  }
  const own = Array.from(written, ([key, [value]]) => [key, value] as const);
  return { ...defaultsOf(parameters), ...Object.fromEntries(own) };
}

export function defaultsOf(parameters: Schemas): Parameters {
  const found = Object.entries(parameters).flatMap(([key, schema]) => {
    const usual = schema["default"];
    return usual === undefined ? [] : [[key, usual as ParameterValue] as const];
  });
  return Object.fromEntries(found);
}
