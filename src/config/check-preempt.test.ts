import { expect, test } from "vitest";
import { parseConfig } from "./parse.ts";

const problemsOf = (pool: string) => {
  const parsed = parseConfig(`pools: { aws: ${pool} }`, "berth.yaml");
  return parsed.ok ? [] : parsed.problems.map(({ message }) => message);
};

test("preempt is true or false, and has a notice", () => {
  const parsed = parseConfig("pools: { aws: { count: 1, preempt: true, notice: 5m } }", "b.yaml");
  expect(parsed).toMatchObject({
    ok: true,
    pools: [{ policy: { preempt: true, noticeMs: 300_000 } }],
  });
});

test("a notice without preempt is a warning", () => {
  const parsed = parseConfig("pools: { aws: { count: 1, notice: 5m } }", "b.yaml");
  const message = expect.stringContaining("it has no effect without preempt");
  expect(parsed).toMatchObject({ ok: true, warnings: [{ message }] });
});

test.each([
  ["{ count: 1, preempt: maybe }", /"maybe" is not a yes or no/],
  ["{ count: 1, preempt: true, notice: 9d }", /notice/],
  [
    "{ place: pack, preempt: true, members: { r: { capacity: { vcpus: 1 } } } }",
    /in a pool that is lent by amount a smaller request may take what an ended lease leaves/,
  ],
])("refuses %s", (pool, message) => {
  expect(problemsOf(pool)).toContainEqual(expect.stringMatching(message));
});
