import { expect, test } from "vitest";
import { poolAnswer as pool } from "../../../src/api/pool-answer.suite.ts";
import { stockFigures } from "./stock-figures.ts";

const whole = pool({ name: "aws", total: 10, held: 4, free: 6 });
const usage = [
  { dimension: "vcpus", used: 71, capacity: 100 },
  { dimension: "memory", used: 10, capacity: 100 },
];
const lab = pool({ name: "lab", total: 4, held: 4, free: 0, usage });
const words = (figures: ReturnType<typeof stockFigures>) =>
  figures.map(({ label, value, aside }) => `${label} ${value} ${aside ?? ""}`.trim());

test.each([
  ["all pools", [whole, lab], undefined, ["Resources 10", "Held 4 40 %", "Free 6"]],
  ["some of them", [whole], [whole, whole, lab], ["Resources 10 of 20", "Held 4 40 %", "Free 6"]],
  ["a shared pool alone", [lab], [whole, lab], []],
  ["none", [], [whole], ["Resources 0 of 10", "Held 0", "Free 0"]],
])("stockFigures() of %s count no shared host as held or free", (_, pools, all, want) => {
  const hosts = pools.includes(lab) ? ["Free vcpus 29 % of 4 hosts"] : [];
  expect(words(stockFigures(pools, all))).toEqual([...want, ...hosts]);
});

test("stockFigures() of several shared pools name no amount", () => {
  expect(words(stockFigures([lab, lab], undefined))).toEqual(["Shared hosts 8 in 2 pools"]);
});
