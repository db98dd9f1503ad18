import { readFile } from "node:fs/promises";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { exampleConfigPath } from "./example.ts";
import { loadConfig } from "./load.ts";
import { ConfigFile, configJsonSchema } from "./schema.ts";

test("configJsonSchema() is what the committed file holds", async () => {
  const committed = new URL("../../examples/berth.schema.json", import.meta.url);
  const hint = "run: npm run generate";
  expect(JSON.parse(await readFile(committed, "utf8")), hint).toEqual(configJsonSchema());
});

test("configJsonSchema() describes every key", () => {
  const undescribed: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key === "properties") {
        for (const [name, property] of Object.entries(value)) {
          if (typeof property === "object" && property !== null && "description" in property)
            continue;
          undescribed.push(`${path}.${name}`);
        }
      }
      visit(value, `${path}.${key}`);
    }
  };
  visit(JSON.parse(JSON.stringify(configJsonSchema())), "");
  expect(undescribed).toEqual([]);
});

test("the example is valid, without a warning, for the parser and for editors", async () => {
  expect(await loadConfig(exampleConfigPath)).toMatchObject({ ok: true, warnings: [] });
  expect(Value.Check(ConfigFile, parse(await readFile(exampleConfigPath, "utf8")))).toBe(true);
});
