/** The lint rules of the core, seen to fire: a rule with a wrong name would pass everything. */
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

const refused: Readonly<Record<string, string>> = {
  "a call of Math.random": "export const a = Math.random();",
  "Math.random as a value": "export const a = [1].map(Math.random);",
  "Math.random by its name in quotes": 'export const a = Math["random"]();',
  "random taken out of Math": "const { random } = Math;\nexport const a = random();",
  "random taken out under another name": "const { random: dice } = Math;\nexport const a = dice();",
  "random taken out with others": "const { max, random } = Math;\nexport const a = max(random());",
  "Math under another name": "const M = Math;\nexport const a = M.random();",
  crypto: "export const a = crypto.randomUUID();",
  Date: "export const a = Date.now();",
  performance: "export const a = performance.now();",
  globalThis: "export const a = globalThis.Math;",
};
const fine = "export const a = Math.max(1, 2);\n";

let folder: string;
let output: string;
const fileOf = (index: number) => `src/core/decide/refused-${index}.ts`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-lint-"));
  for (const name of ["biome.json", "scripts/lint"]) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await mkdir(join(folder, "src/core/decide"), { recursive: true });
  await mkdir(join(folder, "src/broker"), { recursive: true });
  for (const [index, text] of Object.values(refused).entries()) {
    await writeFile(join(folder, fileOf(index)), `${text}\n`);
  }
  await writeFile(join(folder, "src/core/decide/fine.ts"), fine);
  await writeFile(join(folder, "src/broker/dice.ts"), "export const a = Math.random();\n");
  const biome = join(root, "node_modules/.bin/biome");
  const args = ["lint", "--max-diagnostics=none", "--reporter=github", "."];
  const { stdout, stderr } = spawnSync(biome, args, { cwd: folder, encoding: "utf8" });
  output = stdout + stderr;
});

afterAll(() => rm(folder, { recursive: true }));

const cases = Object.keys(refused).map((name, index) => [name, index] as const);

test.each(cases)("biome refuses %s in the core", (_, index) => {
  expect(output).toMatch(new RegExp(`file=\\S*${fileOf(index).replaceAll(".", "\\.")}`));
});

test("biome refuses nothing else", () => {
  expect(output).not.toContain("fine.ts");
  expect(output).not.toContain("dice.ts");
});
