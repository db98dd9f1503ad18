import { expect, test } from "vitest";
import { acquire, Lending, pool, release } from "../decide/lending.suite.ts";
import { keyedLimits, keylessLimits } from "./ended-memory.ts";
import type { Instant } from "./time.ts";

function lend(lending: Lending, id: string, key?: string): void {
  lending.events.length = 0;
  lending.outcome(acquire(id, "aws", key === undefined ? {} : { key }), release(id));
}

/** Repeats the ask of lease "a" with its key, as a client does after a lost reply. */
function askAgain(lending: Lending, id: string) {
  return lending.outcome(acquire(id, "aws", { key: "k", holder: "job-a" }));
}

test("a key is remembered for a day at least where few leases end, and for two at the most", () => {
  const lending = new Lending(pool("aws", 1));
  lend(lending, "a", "k");
  lending.now = keyedLimits.ageMsMax as Instant;
  lend(lending, "b", "other");
  expect(askAgain(lending, "c")).toMatchObject({ refusal: { code: "request_ended", id: "a" } });
  lend(lending, "d", "third");
  lending.now = (keyedLimits.ageMsMax * 2) as Instant;
  lend(lending, "e", "fourth");
  expect(askAgain(lending, "c")).toMatchObject({ type: "granted", lease: { id: "c" } });
});

test("a key is remembered for ten minutes at least, however many leases end", () => {
  const lending = new Lending(pool("aws", 1));
  lend(lending, "a", "k");
  lending.now = (keyedLimits.ageMsMin - 1) as Instant;
  for (let number = 0; number < keyedLimits.sizeMin * 3; number++)
    lend(lending, `r${number}`, `k${number}`);
  expect(askAgain(lending, "c")).toMatchObject({ refusal: { code: "request_ended", id: "a" } });
});

test("the memory of what ended is bounded to two generations", () => {
  const lending = new Lending(pool("aws", 1));
  for (let number = 0; number < keylessLimits.sizeMax * 3 + 3; number++)
    lend(lending, `r${number}`);
  expect(lending.state.ended.size).toBe(keylessLimits.sizeMax + 3);
  lending.now = keyedLimits.ageMsMin as Instant;
  for (let number = 0; number < keyedLimits.sizeMax * 2 + 1; number++)
    lend(lending, `s${number}`, `k${number}`);
  expect(lending.state.ended.size).toBeLessThanOrEqual(
    keylessLimits.sizeMax + 3 + keyedLimits.sizeMax * 2,
  );
  expect(lending.state.keys.size).toBeLessThanOrEqual(keyedLimits.sizeMax * 2);
});

test("a key that is used again is not forgotten with its old lease", () => {
  const lending = new Lending(pool("aws", 1));
  lend(lending, "a", "k");
  for (const [day, id] of [
    [1, "b"],
    [2, "c"],
    [3, "d"],
  ] as const) {
    lending.now = (keyedLimits.ageMsMax * day) as Instant;
    lend(lending, id, id);
  }
  lending.do(acquire("e", "aws", { key: "k", ttlMs: keyedLimits.ageMsMax * 9 }));
  expect(lending.state.keys.get("k")).toBe("e");
});
