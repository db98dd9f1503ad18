import Type from "typebox";
import { describe, expect, test } from "vitest";
import * as schemas from "./schemas.ts";

const all = Object.entries(schemas).filter(([, value]) => typeof value === "object");

describe("the wire's schemas", () => {
  test("compile as JSON Schema and keep nothing that JSON cannot carry", () => {
    for (const [name, schema] of all) {
      expect(JSON.parse(JSON.stringify(schema)), name).toEqual(
        JSON.parse(JSON.stringify(structuredClone(schema))),
      );
    }
    expect(all.length).toBeGreaterThan(10);
  });

  test("take no field that they do not know, where they come in", () => {
    for (const schema of [schemas.AskBody, schemas.ResourcePatch]) {
      expect(schema).toMatchObject({ additionalProperties: false });
    }
  });

  test("every text that comes in has a largest length", () => {
    const unbounded: string[] = [];
    const walk = (node: unknown, where: string): void => {
      if (typeof node !== "object" || node === null) return;
      const { type, maxLength, enum: choices, const: only } = node as Record<string, unknown>;
      const bounded = [maxLength, choices, only].some((limit) => limit !== undefined);
      if (type === "string" && !bounded) unbounded.push(where);
      if (type === "array" && !("maxItems" in node)) unbounded.push(where);
      for (const [key, child] of Object.entries(node)) walk(child, `${where}.${key}`);
    };
    walk(schemas.AskBody, "AskBody");
    walk(schemas.ResourcePatch, "ResourcePatch");
    expect(unbounded).toEqual([]);
  });

  test("Page() wraps any schema", () => {
    expect(schemas.Page(Type.String()).properties).toHaveProperty("next");
  });
});
