import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ParameterSchema } from "./template-spec.ts";

/** Whether a value is one that this JSON Schema allows. */
export function matches(schema: ParameterSchema, value: unknown): boolean {
  return Compile(Type.Unsafe<unknown>(schema)).Check(value);
}
