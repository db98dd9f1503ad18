/**
 * Checks the parameters of a request against the template of its pool, before anything is reserved.
 * The core gets all parameters of the cluster, resolved.
 */
import { Errors } from "typebox/schema";
import { Problem } from "../../api/problem.ts";
import type { Parameters, ParameterValue } from "../../core/model/cluster.ts";
import { entryOf } from "../../core/model/entries.ts";
import { nearest } from "../../core/model/nearest.ts";
import type { TemplateInfo } from "./template-info.ts";

export interface Asked {
  readonly pool: string;
  readonly template: TemplateInfo;
  /** Of the clusters that the pool keeps: the template's defaults and what the pool has set. */
  readonly defaults: Parameters;
  readonly parameters: Parameters;
}

/** Throws a Problem that names the parameter. */
export function resolveParameters({ pool, template, defaults, parameters }: Asked): Parameters {
  const asked = Object.entries(parameters).map(
    ([name, value]) => [name, checkOne(pool, template, name, value)] as const,
  );
  return { ...defaults, ...Object.fromEntries(asked) };
}

/** The value as the template has it. */
function checkOne(
  pool: string,
  template: TemplateInfo,
  name: string,
  value: ParameterValue,
): ParameterValue {
  const facts = { pool, template: template.name, parameter: name };
  if (template.pinned.includes(name)) {
    throw new Problem({
      code: "parameter_pinned",
      status: 422,
      message: `Cannot set the parameter "${name}" of ${pool}: the template ${template.name} has pinned it`,
      hint: "Leave it out; its value is the same for every cluster of the template",
      facts,
    });
  }
  const schema = entryOf(template.parameters, name);
  if (schema === undefined) throw unknownParameter(pool, template, name);
  const [fits, errors] = Errors(schema, value);
  if (fits) return value;
  const fraction = fractionOf(value);
  if (fraction !== undefined && Errors(schema, fraction)[0]) return fraction;
  const [first] = errors;
  const choices = choicesOf(schema);
  const wrong =
    choices === undefined
      ? (first?.message ?? "its schema does not allow it")
      : `must be one of ${choices.join(", ")}`;
  throw new Problem({
    code: "parameter_invalid",
    status: 422,
    message: `Cannot set the parameter "${name}" of ${pool} to ${shown(value)}: it ${wrong}`,
    hint:
      choices === undefined ? seeTemplate(template) : `Use ${closest(value, choices).join(" or ")}`,
    facts: { ...facts, ...(choices === undefined ? undefined : { allowed: choices }) },
  });
}

/**
 * A command line cannot tell the fraction 0.5 from a version such as 4.19, so it sends both as texts.
 * Only one that is written as the number is: nobody gets 4.2 who has asked for 4.20.
 */
function fractionOf(value: ParameterValue): number | undefined {
  const isFraction = typeof value === "string" && /^-?\d+\.\d+$/.test(value);
  return isFraction && String(Number(value)) === value ? Number(value) : undefined;
}

function unknownParameter(pool: string, template: TemplateInfo, name: string): Problem {
  const known = Object.keys(template.parameters);
  const meant = nearest(name, known);
  const names = known.length === 0 ? "It has no parameters" : `Use ${known.join(", ")}`;
  return new Problem({
    code: "parameter_invalid",
    status: 422,
    message: `Cannot set the parameter "${name}" of ${pool}: the template ${template.name} has no such parameter`,
    hint: meant === undefined ? names : `Did you mean "${meant}"?`,
    facts: {
      ...{ pool, template: template.name, parameter: name, known },
      ...(meant === undefined ? undefined : { nearest: meant }),
    },
  });
}

function seeTemplate({ name }: TemplateInfo): string {
  return `GET /v1/templates/${name} shows what it may be`;
}

function choicesOf(schema: object): readonly ParameterValue[] | undefined {
  const { enum: choices } = schema as { readonly enum?: unknown };
  return Array.isArray(choices) ? (choices as ParameterValue[]) : undefined;
}

/** As many as a person wants to read. */
const closestMax = 3;

/** Versions by their distance, so that 4.18 leads to 4.19 before 4.20. */
function closest(value: ParameterValue, choices: readonly ParameterValue[]): ParameterValue[] {
  const wanted = versionOf(value);
  const sorted = [...choices].sort(
    (a, b) => distance(versionOf(a), wanted) - distance(versionOf(b), wanted),
  );
  return sorted.slice(0, closestMax);
}

function versionOf(value: ParameterValue): readonly number[] {
  return String(value)
    .split(/[^0-9]+/)
    .filter(Boolean)
    .map(Number);
}

/** Of two versions: the first number that differs counts most. */
function distance(one: readonly number[], other: readonly number[]): number {
  let total = 0;
  for (let at = 0; at < 4; at++) {
    total = total * 1_000 + Math.min(999, Math.abs((one[at] ?? 0) - (other[at] ?? 0)));
  }
  return total;
}

function shown(value: ParameterValue): string {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}
