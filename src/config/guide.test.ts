import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { withFieldTables } from "./guide-tables.ts";
import { janitorProgramsOf } from "./janitor-programs.ts";
import { parseConfig } from "./parse.ts";
import { ConfigFile, Pool } from "./schema.ts";

const read = (name: string) =>
  readFile(new URL(`../../docs/guides/${name}`, import.meta.url), "utf8");
const guide = await read("configuration.md");

function blocks(language: string, text = guide): string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n(.*?)^\\1\`\`\`$`, "gms");
  return [...text.matchAll(fence)].map(([, indent = "", block = ""]) => {
    return block.replaceAll(new RegExp(`^${indent}`, "gm"), "");
  });
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

const folder = new URL("../../docs/guides/", import.meta.url);
const guides = (await readdir(folder)).filter((name) => name.endsWith(".md"));
/** Where the manifests of the guides are. */
const exampleFile = fileURLToPath(new URL("../../examples/hubs/berth.yaml", import.meta.url));

/** The pools that parts of a configuration name. */
const restOfFile = `templates: { any: { driver: namespace } }
pools: { aws-account: { count: 1 }, ocp-4.20: { template: any }, namespaces: { template: any } }
`;

/** Blocks that have only keys of a configuration; parts of one are made whole. */
async function configurationsIn(name: string): Promise<readonly string[]> {
  const found = blocks("yaml", await read(name)).filter((text) => {
    const keys = [...text.matchAll(/^([A-Za-z]+):/gm)].map(([, key = ""]) => key);
    return text !== bad && keys.length > 0 && keys.every((key) => key in ConfigFile.properties);
  });
  return found.map((text) => {
    const whole = /^pools:/m.test(text) ? text : `${text}\n${restOfFile}`;
    let tokens = 0;
    return whole.replaceAll(/sha256: \S+?…?(?=[,} ])/g, () => {
      tokens += 1;
      return `sha256: a${String(tokens).padStart(63, "0")}`;
    });
  });
}

test.each(guides)("%s shows configurations that are valid", async (name) => {
  for (const text of await configurationsIn(name)) {
    // With the folder, manifests are read and the places in them are checked.
    const config = parseConfig(text, exampleFile, janitorProgramsOf(exampleFile));
    expect(config.ok ? [] : config.problems.map(formatProblem), text).toEqual([]);
  }
});
