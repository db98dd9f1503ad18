/** Classes of priorities, ageing, and operators who change a priority. */
import { describe, expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import { stateDifference } from "../../../sim/state-difference.ts";
import { apply } from "../apply/apply.ts";
import { emptyState } from "../apply/create.ts";
import type { Command } from "../model/command.ts";
import { isDurable } from "../model/event.ts";
import type { RequestId, SpaceName } from "../model/ids.ts";
import type { PoolSpec } from "../model/policy.ts";
import { type PrioritiesSpec, plainPriorities } from "../model/priority.ts";
import { anySpace, defaultSpacePolicy } from "../model/space.ts";
import { after, type Instant } from "../model/time.ts";
import { capacityPool, want } from "../shared/capacity.suite.ts";
import { acquire, Lending, operator, pool, release, runTo } from "./lending.suite.ts";

const minuteMs = 60_000;
const ageing = { everyMs: 10 * minuteMs, step: 1, max: 0 };
const patient = { ttlMs: 24 * 60 * minuteMs };

function lending(priorities: Partial<PrioritiesSpec>, ...pools: PoolSpec[]): Lending {
  const made = new Lending(...pools);
  made.do({ type: "configure", pools, priorities: { ...plainPriorities, ...priorities } });
  return made;
}

const bump = (id: string, priority: number | string): Command => {
  return { type: "bump", id: id as RequestId, priority, reason: operator };
};

const priorityOf = (made: Lending, id: string) => {
  return made.state.requests.get(id as RequestId)?.priority;
};

/** The indexes are right, and a snapshot restores the state. */
function checkBooks(made: Lending): void {
  checkState(made.state, made.now);
  checkSnapshot(made.state);
}

describe("a class of priorities", () => {
  const classes = { urgent: 100, nightly: -10 };

  test("is a name for a number", () => {
    const made = lending({ classes }, pool("aws", 1));
    made.outcome(acquire("h", "aws"), acquire("n", "aws", { priorityClass: "nightly" }));
    made.outcome(acquire("m", "aws"), acquire("u", "aws", { priorityClass: "urgent" }));
    expect(made.line("aws")).toEqual(["u", "m", "n"]);
    expect(priorityOf(made, "u")).toBe(100);
  });

  test("is refused if the configuration does not have it, with the nearest name", () => {
    const made = lending({ classes }, pool("aws", 1));
    const refusal = { code: "priority_unknown", name: "urgnt", nearest: "urgent" };
    expect(made.outcome(acquire("u", "aws", { priorityClass: "urgnt" }))).toMatchObject({
      refusal,
    });
    made.outcome(acquire("h", "aws"), acquire("w", "aws"));
    expect(made.outcome(bump("w", "urgnt"))).toMatchObject({ refusal });
  });

  test("is no inherited property", () => {
    const made = lending({ classes }, pool("aws", 1));
    const outcome = made.outcome(acquire("u", "aws", { priorityClass: "constructor" }));
    expect(outcome).toMatchObject({ refusal: { code: "priority_unknown" } });
  });

  test("is lowered to the bound of the space", () => {
    const pools = [pool("aws", 1)];
    const made = new Lending(...pools);
    const policy = { ...defaultSpacePolicy, priorityMax: 5 };
    const spaces = { ...anySpace, others: policy };
    made.do({ type: "configure", pools, spaces, priorities: { classes, ageing: null } });
    const space = "a" as SpaceName;
    made.outcome(acquire("h", "aws"), acquire("u", "aws", { space, priorityClass: "urgent" }));
    expect(priorityOf(made, "u")).toBe(5);
  });
});

describe("ageing", () => {
  test("raises a waiting request step by step, up to its bound", () => {
    const made = lending({ ageing }, pool("aws", 1, patient));
    made.outcome(acquire("h", "aws"), acquire("low", "aws", { priority: -2 }));
    made.do(acquire("high", "aws", { priority: 3 }));
    runTo(made, 9 * minuteMs);
    made.do(acquire("late", "aws"));
    expect(made.line("aws")).toEqual(["high", "late", "low"]);
    runTo(made, 10 * minuteMs);
    expect(priorityOf(made, "low")).toBe(-1);
    runTo(made, 60 * minuteMs);
    // It came before `late`, which has the same priority now; neither rises further.
    expect([priorityOf(made, "low"), priorityOf(made, "late")]).toEqual([0, 0]);
    expect(made.line("aws")).toEqual(["high", "low", "late"]);
    checkBooks(made);
  });

  test("stops at the bound of the space", () => {
    const pools = [pool("aws", 1, patient)];
    const made = new Lending(...pools);
    const others = { ...defaultSpacePolicy, priorityMax: -3 };
    const spaces = { ...anySpace, others };
    made.do({ type: "configure", pools, spaces, priorities: { classes: {}, ageing } });
    const space = "a" as SpaceName;
    made.outcome(acquire("h", "aws"), acquire("w", "aws", { space, priority: -5 }));
    runTo(made, 120 * minuteMs);
    expect(priorityOf(made, "w")).toBe(-3);
    made.do({ type: "configure", pools, priorities: { classes: {}, ageing } });
    runTo(made, 150 * minuteMs);
    expect(priorityOf(made, "w")).toBe(0);
  });

  test("takes all steps at once after a pause, and starts and stops with the configuration", () => {
    const pools = [pool("aws", 1, patient)];
    const made = lending({ ageing: { ...ageing, step: 2 } }, ...pools);
    made.outcome(acquire("h", "aws"), acquire("w", "aws", { priority: -9 }));
    made.tickAt(35 * minuteMs);
    expect(priorityOf(made, "w")).toBe(-3);
    made.do({ type: "configure", pools });
    runTo(made, 90 * minuteMs);
    expect(priorityOf(made, "w")).toBe(-3);
    made.do({ type: "configure", pools, priorities: { classes: {}, ageing } });
    runTo(made, 91 * minuteMs);
    expect(priorityOf(made, "w")).toBe(0);
    checkBooks(made);
  });

  test("grants to a request that moved ahead of one which keeps resources", () => {
    // `both` is out of patience and keeps the free aws; `low` rises to its priority and came before.
    const made = lending(
      { ageing: { ...ageing, max: 1 } },
      pool("aws", 1, { ...patient, patienceMs: 0 }),
      pool("gcp", 1, patient),
    );
    made.outcome(acquire("h", "gcp"), acquire("x", "aws"), acquire("low", "aws"));
    made.outcome(acquire("both", "aws gcp", { priority: 1 }), release("x"));
    expect(made.held("low")).toBeUndefined();
    runTo(made, 10 * minuteMs);
    expect(made.held("low")).toEqual(["aws-1"]);
  });

  test("is the same after a replay of the journal", () => {
    const made = lending({ ageing }, pool("aws", 1, patient), pool("gcp", 1, patient));
    made.outcome(acquire("h", "aws gcp"), acquire("w", "aws gcp", { priority: -4 }));
    runTo(made, 25 * minuteMs);
    const replayed = emptyState();
    let at = 0 as Instant;
    for (const event of made.events.filter(isDurable)) {
      if (event.type === "priority-changed") at = after(at, ageing.everyMs);
      apply(replayed, event, at);
    }
    expect(stateDifference(replayed, made.state)).toBeUndefined();
    expect(priorityOf(made, "w")).toBe(-2);
  });
});

describe("bump", () => {
  test("moves a waiting request, records the reason, and is the same when repeated", () => {
    const made = lending({ classes: { urgent: 100 } }, pool("aws", 1));
    made.outcome(acquire("h", "aws"), acquire("a", "aws"), acquire("b", "aws"));
    const { events, outcome } = made.do(bump("b", 5));
    const type = "priority-changed";
    expect(events).toEqual([{ type, id: "b", priority: 5, reason: operator }]);
    expect(outcome).toMatchObject({ type: "waiting", request: { position: 1, priority: 5 } });
    expect(made.line("aws")).toEqual(["b", "a"]);
    expect(made.do(bump("b", 5)).events).toEqual([]);
    made.do(bump("a", "urgent"));
    expect(made.line("aws")).toEqual(["a", "b"]);
    made.do(release("h"));
    expect(made.state.leases.get("a" as RequestId)?.priority).toBe(100);
    checkBooks(made);
  });

  test("refuses a request that does not wait", () => {
    const made = lending({}, pool("aws", 1));
    made.do(acquire("h", "aws"));
    expect(made.outcome(bump("h", 1))).toMatchObject({ refusal: { code: "request_granted" } });
    expect(made.outcome(bump("?", 1))).toMatchObject({ refusal: { code: "request_not_found" } });
    made.do(release("h"));
    expect(made.outcome(bump("h", 1))).toMatchObject({ refusal: { code: "request_ended" } });
  });

  test("moves a whole gang", () => {
    const made = lending({}, pool("aws", 2));
    const group = { name: "g", size: 2 };
    made.outcome(acquire("h", "aws:2"), acquire("a", "aws", { group }), acquire("x", "aws"));
    made.outcome(acquire("b", "aws", { group }), bump("a", 7));
    expect([priorityOf(made, "a"), priorityOf(made, "b")]).toEqual([7, 7]);
    made.do(release("h"));
    expect([made.held("a"), made.held("b"), made.held("x")]).toEqual([
      ["aws-1"],
      ["aws-2"],
      undefined,
    ]);
  });

  test("down lets the requests behind it be granted", () => {
    const made = lending({}, pool("aws", 1, { patienceMs: 0 }), pool("gcp", 1));
    made.outcome(acquire("h", "gcp"), acquire("both", "aws gcp"), acquire("a", "aws"));
    expect(made.held("a")).toBeUndefined();
    made.do(bump("both", -1));
    expect(made.held("a")).toEqual(["aws-1"]);
  });

  test("makes reservations of a shared pool count against others", () => {
    const shared = capacityPool({ r: { capacity: { cpus: 4 } } }, { patienceMs: 0 });
    const made = lending({}, shared);
    made.outcome(want("h", { amount: { cpus: 2 } }), want("big", { amount: { cpus: 4 } }));
    made.tickAt(1);
    made.do(want("small", { amount: { cpus: 2 } }));
    // Room is reserved for `big`, so `small` waits behind it.
    expect(made.held("small")).toBeUndefined();
    made.do(bump("small", 1));
    expect(made.held("small")).toEqual(["r"]);
    checkBooks(made);
  });
});
