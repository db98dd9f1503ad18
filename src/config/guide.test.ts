import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parseConfig } from "./parse.ts";
import { formatProblem } from "./problem.ts";
import { Pool } from "./schema.ts";

const guideUrl = new URL("../../docs/guides/configuration.md", import.meta.url);
const guide = await readFile(guideUrl, "utf8");

function blocks(language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  return [...guide.matchAll(fence)].map(([, text = ""]) => text);
}

test("the guide to the configuration explains every key of a pool", () => {
  const explained = [...guide.matchAll(/^\| `(\w+)` +\|.*\|.*\|$/gm)].map(([, key]) => key);
  expect(explained).toEqual(expect.arrayContaining(Object.keys(Pool.properties)));
});

test("the guide to the configuration begins with a file that is valid", () => {
  expect(parseConfig(blocks("yaml")[0] ?? "", "berth.yaml")).toMatchObject({
    ok: true,
    warnings: [],
  });
});

test("the guide to the configuration shows what is really said of its bad file", () => {
  const config = parseConfig(blocks("yaml")[1] ?? "", "berth.yaml");
  const lines = config.ok ? [] : config.problems.map(formatProblem);
  expect(blocks("text")[0]).toBe(`${lines.join("\n")}\n`);
});
