import { expect, test } from "vitest";
import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { Situation } from "./situation.ts";
import { TurnWatch } from "./turn-watch.ts";

const ticket = (uid: string): LeaseObject => ({ metadata: { name: uid, uid } });
const now = (ahead: readonly string[], free: number): Situation => ({
  mine: undefined,
  ticket: undefined,
  ahead: ahead.map(ticket),
  openings: Array.from({ length: free }, (_, slot) => ({ slot })),
  msToOpening: Number.POSITIVE_INFINITY,
});

test("TurnWatch returns the first in the queue once it has not taken a free slot for its turn", () => {
  const turns = new TurnWatch(1_000);
  expect(turns.overdue(now(["a"], 1), 0)).toBeUndefined();
  expect(turns.overdue(now(["a"], 1), 999)).toBeUndefined();
  expect(turns.overdue(now(["a"], 1), 1_000)?.metadata.uid).toBe("a");
});

test("TurnWatch lets the next in the queue act first", () => {
  const turns = new TurnWatch(1_000);
  turns.overdue(now(["a", "b"], 1), 0);
  expect(turns.overdue(now(["a", "b"], 1), 1_400)).toBeUndefined();
  expect(turns.overdue(now(["a", "b"], 1), 1_500)?.metadata.uid).toBe("a");
});

test("TurnWatch starts again when no slot is free meanwhile, or another ticket is first", () => {
  const turns = new TurnWatch(1_000);
  turns.overdue(now(["a"], 1), 0);
  turns.overdue(now(["a"], 0), 500);
  expect(turns.overdue(now(["a"], 1), 1_100)).toBeUndefined();
  expect(turns.overdue(now(["b"], 1), 2_050)).toBeUndefined();
  expect(turns.overdue(now(["b"], 1), 3_050)?.metadata.uid).toBe("b");
});

test("TurnWatch ignores a wait during which its own process was stalled", () => {
  const turns = new TurnWatch(1_000);
  turns.overdue(now(["a"], 1), 0);
  expect(turns.overdue(now(["a"], 1), 60_000)).toBeUndefined();
  expect(turns.overdue(now(["a"], 1), 61_000)?.metadata.uid).toBe("a");
});
