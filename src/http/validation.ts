/** Turns what a schema found wrong into a message with the place, the value and the way out. */
import type { FastifySchemaValidationError } from "fastify/types/schema.js";
import { Problem } from "../api/problem.ts";
import { nearest } from "../core/model/nearest.ts";

/** Ajv's own fields that Fastify's type leaves out; `verbose` adds the data and the schema. */
interface SchemaError extends FastifySchemaValidationError {
  readonly data?: unknown;
  readonly parentSchema?: {
    readonly properties?: Record<string, unknown>;
    readonly description?: string;
  };
}

/** As many mistakes as a person fixes in one go. */
const errorsMax = 8;

export function validationProblem(errors: readonly SchemaError[], part: string): Problem {
  const found = errors
    .filter(({ keyword }) => keyword !== "if")
    .slice(0, errorsMax)
    .map((error) => ({ place: placeOf(error, part), message: wrongWith(error) }));
  const [first] = found;
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
  return new Problem({
    code: "invalid_request",
    status: 400,
    message: `Cannot read ${first?.place ?? part}: ${first?.message ?? "it is invalid"}${more}`,
    hint: hintFor(errors[0]),
    facts: { errors: found },
  });
}

/** `body.items[0].count` from `/items/0/count`. */
function placeOf({ instancePath }: SchemaError, part: string): string {
  const steps = instancePath.split("/").slice(1).map(unescapePointer);
  return part + steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join("");
}

function unescapePointer(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function wrongWith(error: SchemaError): string {
  const { keyword, params } = error;
  switch (keyword) {
    case "additionalProperties":
      return `there is no field "${cut(String(params["additionalProperty"]))}"`;
    case "required":
      return `"${params["missingProperty"]}" is missing`;
    case "type":
      return `${shown(error)} is not ${article(String(params["type"]))}`;
    case "pattern":
      return `${shown(error)} is not ${formOf(error)}`;
    case "const":
      return `${shown(error)} is not ${String(params["allowedValue"])}`;
    default:
      return `${shown(error)} ${error.message ?? "is invalid"}`;
  }
}

function formOf({ parentSchema, params }: SchemaError): string {
  const description = parentSchema?.description;
  if (description?.startsWith("A duration") === true) return "a duration";
  if (String(params["pattern"]).includes("ms|s|m|h|d")) return "a duration";
  return "in the form that is accepted here";
}

function hintFor(error: SchemaError | undefined): string {
  if (error?.keyword === "additionalProperties") {
    const known = Object.keys(error.parentSchema?.properties ?? {});
    const meant = nearest(String(error.params["additionalProperty"]), known);
    if (meant !== undefined) return `Did you mean "${meant}"?`;
    if (known.length > 0) return `Use ${known.join(", ")}`;
  }
  if (error?.keyword === "pattern") {
    const pattern = String(error.params["pattern"]);
    if (pattern.includes("ms|s|m|h|d")) return "Write it like 90s, 20m, 1h30m or 2d";
    return `It must match ${pattern}`;
  }
  return "See /docs for what is accepted";
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/**
 * The value as it came, cut short. User data may be secret and is never repeated, nor is anything
 * that could contain it.
 */
function shown({ data, instancePath }: SchemaError): string {
  if (Array.isArray(data)) return "an array";
  if (typeof data === "object" && data !== null) return "an object";
  if (data === undefined) return "nothing";
  if (instancePath.startsWith("/userData")) return "the value";
  return cut(JSON.stringify(data));
}

function cut(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}
