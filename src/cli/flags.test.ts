import { Command } from "commander";
import { expect, test } from "vitest";
import { onceFlag } from "./flags.ts";
import { wholeNumber } from "./values.ts";

const parse = (...argv: string[]) => {
  const command = new Command("test")
    .addOption(onceFlag("--resource <name>", "only this resource"))
    .addOption(onceFlag("--limit <n>", "at most n", wholeNumber(0, 9)));
  return command.parse(argv, { from: "user" }).opts<{ resource?: string; limit?: number }>();
};

test("onceFlag() accepts one value, parsed or as typed", () => {
  expect(parse("--resource", "a", "--limit", "0")).toEqual({ resource: "a", limit: 0 });
});

test.each([
  ["--resource", "a", "b"],
  ["--resource", "", "b"],
  ["--limit", "0", "1"],
])("onceFlag() refuses a second value of %s instead of using the last", (name, first, second) => {
  expect(() => parse(name, first, name, second)).toThrow(`Cannot use ${name} twice`);
});
