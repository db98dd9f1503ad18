import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { withFieldTables } from "./guide-tables.ts";
import { parseConfig } from "./parse.ts";
import { Pool } from "./schema.ts";

const read = (name: string) =>
  readFile(new URL(`../../docs/guides/${name}`, import.meta.url), "utf8");
const guide = await read("configuration.md");

function blocks(language: string, text = guide): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  return [...text.matchAll(fence)].map(([, block = ""]) => block);
}

test("the guide to the configuration explains every key of a pool", () => {
  const explained = [...guide.matchAll(/^\| `(\w+)` +\|.*\|.*\|$/gm)].map(([, key]) => key);
  const keys = Object.keys(Pool.properties);
  expect(explained, "run: npm run generate").toEqual(expect.arrayContaining(keys));
});

test.each(["configuration.md", "install-leases.md"])(
  "%s has the tables of a policy",
  async (name) => {
    const text = await read(name);
    expect(text).toMatch(/^<!-- fields: \w+ -->$/m);
    expect(text, "run: npm run generate").toBe(withFieldTables(text, name));
  },
);

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

test.each(["from-boskos.md", "capacity.md"])(
  "%s begins with a file that is valid",
  async (name) => {
    const [shown = ""] = blocks("yaml", await read(name));
    expect(parseConfig(shown, "berth.yaml")).toMatchObject({ ok: true, warnings: [] });
  },
);
