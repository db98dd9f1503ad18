import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { nextSteps, serve } from "./serve.ts";

test("every option of berth serve is explained in a guide", async () => {
  const guides = await Promise.all(
    ["cli.md", "from-boskos.md"].map((name) =>
      readFile(new URL(`../../../docs/guides/${name}`, import.meta.url), "utf8"),
    ),
  );
  const options = (serve.options ?? []).flatMap(({ long }) => long ?? []);
  expect(options.length).toBeGreaterThan(10);
  const text = guides.join("\n");
  expect(options.filter((option) => !text.includes(`\`${option}`))).toEqual([]);
});

test.each(["bin/berth", "berth"] as const)("nextSteps() names the command %s", (command) => {
  const lines = nextSteps("http://127.0.0.1:8080", command).split("\n");
  const commands = lines.filter((line) => /berth (?:status|run)/.test(line));
  expect(commands).toHaveLength(2);
  for (const line of commands) expect(line.startsWith(`  ${command} `)).toBe(true);
});
