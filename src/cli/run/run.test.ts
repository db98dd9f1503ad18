import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../program.ts";
import { run } from "./run.ts";

const examples = (run.help ?? "").split("\n").filter((line) => line.startsWith("  berth run "));

describe("berth run --help", () => {
  test("has examples for several needs", () => {
    expect(examples.length).toBeGreaterThanOrEqual(4);
    for (const line of examples) expect(line.length).toBeLessThanOrEqual(100);
  });

  test.each(examples)("has an example that is valid: %s", async (line) => {
    const [command = ""] = line.trim().split(/ {2,}/);
    const words = command.match(/'[^']*'|\S+/g) ?? [];
    const start = await parseCommandLine(words.slice(1).map((word) => word.replaceAll("'", "")));
    expect(start).toBeTypeOf("function");
  });
});
