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

const bad = blocks("yaml").find((text) => text.includes("onRelaese")) ?? "";

test("the guide to the configuration shows files that are valid", () => {
  const good = blocks("yaml").filter((text) => /^pools:/m.test(text) && text !== bad);
  expect(good.length).toBeGreaterThan(3);
  for (const text of good) {
    expect(parseConfig(text, "berth.yaml"), text).toMatchObject({ ok: true, warnings: [] });
  }
});

test("the guide to the configuration shows what is really said of its bad file", () => {
  const config = parseConfig(bad, "berth.yaml");
  const lines = config.ok ? [] : config.problems.map(formatProblem);
  expect(blocks("text")[0]).toBe(`${lines.join("\n")}\n`);
});
