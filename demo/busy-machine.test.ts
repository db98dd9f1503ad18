import { expect, test } from "vitest";
import { BusyMachine } from "./busy-machine.ts";

function report({ acts = 100, late = 0, leftOut = 0 }, machine = new BusyMachine(20 * 60_000)) {
  for (let index = 0; index < acts; index++) machine.acted(index < late ? 2_000 : 20);
  for (let index = 0; index < leftOut; index++) machine.leftOut();
  return machine.report();
}

test("a machine that keeps up is not mentioned, and neither is a single slow moment", () => {
  expect(report({})).toBeUndefined();
  expect(report({ late: 10 })).toBeUndefined();
  expect(report({ acts: 0 })).toBeUndefined();
});

test("jobs that act late, or are left out, are reported once, and so is the end of it", () => {
  const machine = new BusyMachine(20 * 60_000);
  expect(report({ late: 40 }, machine)).toContain("40 % of the jobs act late, 0 were left out");
  expect(report({ late: 40 }, machine)).toBeUndefined();
  expect(report({ acts: 0 }, machine)).toBeUndefined();
  expect(report({}, machine)).toBe("The machine keeps up again.");
  expect(report({ acts: 90, leftOut: 10 }, machine)).toContain("10 were left out");
});

test("advises a slower day only if the day is fast", () => {
  expect(report({ late: 40 })).toContain("--day 1h");
  const slow = report({ late: 40 }, new BusyMachine(8 * 3_600_000));
  expect(slow).not.toContain("--day");
  expect(slow).toContain("--pools");
});
