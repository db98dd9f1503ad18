import { expect, test } from "vitest";
import { Problem } from "../../../src/api/problem.ts";
import { overWords } from "./over-words.ts";

const problem = (code: string, facts: object = {}) =>
  new Problem({ code, status: 410, message: "Cannot", hint: "", facts: { ...facts } });
const endedAt = "1970-01-01T00:00:10.000Z";

test.each([
  ["lease_ended", { how: "released", endedAt }, "The lease ended 50s ago: its holder released it."],
  ["request_ended", { how: "cancelled", endedAt }, "The request ended 50s ago: it left the queue."],
  ["lease_ended", { how: "of a newer server", endedAt }, "The lease ended 50s ago."],
  ["lease_ended", {}, "The lease ended."],
  ["request_granted", {}, "It has been granted. To take its resources back, end the lease."],
  ["resource_busy", {}, undefined],
])("overWords() of %s %j", (code, facts, want) => {
  expect(overWords(problem(code, facts), 60_000)).toBe(want);
});

test("overWords() leaves other errors alone", () => {
  expect(overWords(new Error("no connection"), 0)).toBeUndefined();
});
