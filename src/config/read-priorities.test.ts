import { describe, expect, test } from "vitest";
import { parseConfig } from "./parse.ts";

const pools = "pools: { aws: { count: 1 } }\n";

function prioritiesIn(text: string) {
  const parsed = parseConfig(`${pools}${text}`, "berth.yaml");
  return parsed.ok ? parsed.priorities : parsed.problems.map(({ message }) => message);
}

describe("priorities", () => {
  test("are names for numbers, and rise by ageing", () => {
    const text =
      "priorities: { urgent: 100, nightly: -10 }\nageing: { every: 5m, step: 2, max: 7 }";
    const ageing = { everyMs: 300_000, step: 2, max: 7 };
    expect(prioritiesIn(text)).toEqual({ classes: { urgent: 100, nightly: -10 }, ageing });
  });

  test("have no names and do not rise unless written", () => {
    expect(prioritiesIn("")).toEqual({ classes: {}, ageing: null });
    const ageing = { everyMs: 600_000, step: 1, max: 0 };
    expect(prioritiesIn("ageing: { every: 10m }")).toEqual({ classes: {}, ageing });
  });

  test("may stand beside resources of Boskos", () => {
    const text = "resources: [{ type: t, state: free, names: [a] }]\npriorities: { urgent: 9 }";
    const parsed = parseConfig(text, "boskos.yaml");
    expect(parsed).toMatchObject({ ok: true, priorities: { classes: { urgent: 9 } } });
  });

  test.each([
    ["priorities: [urgent]", /a list is not a map of priorities/],
    ["priorities: { urgent: high }", /"high" is not a whole number/],
    ["priorities: { urgent: 1001 }", /1001 is more than 1000/],
    ["priorities: { urgent: 1.5 }", /1.5 is not a whole number/],
    ['priorities: { "10": 5 }', /is not a name of a priority/],
    ['priorities: { "__proto__": 5 }', /is not a name of a priority/],
    ["ageing: 10m", /"10m" is not a map with every/],
    ["ageing: { step: 1 }", /it has no every/],
    ["ageing: { every: 1s }", /shorter than|less than/],
    ["ageing: { every: 10m, step: 0 }", /0 is less than 1/],
    ["ageing: { every: 10m, max: 2000 }", /2000 is more than 1000/],
    ["ageing: { evry: 10m }", /evry/],
  ])("refuses %s", (text, message) => {
    expect(prioritiesIn(text)).toContainEqual(expect.stringMatching(message));
  });
});
