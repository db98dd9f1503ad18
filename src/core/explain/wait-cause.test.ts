import { expect, test } from "vitest";
import {
  acquire,
  change,
  Lending,
  leave,
  operator,
  pool,
  release,
  runTo,
} from "../decide/lending.suite.ts";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { defaultAdaptive, type PoolPolicy, type PoolSpec } from "../model/policy.ts";
import type { Instant } from "../model/time.ts";
import { capacityPool, want } from "../shared/capacity.suite.ts";

const under: Partial<PoolPolicy> = { parent: "account" as PoolName };
const pace = { everyMs: 10_000, burst: 1, jitter: 0 };
const account = (policy: Partial<PoolPolicy>) => pool("account", [], { limit: 9, ...policy });
const room = (vcpus: number) => ({ amount: { vcpus } });

interface Case {
  readonly pools: readonly PoolSpec[];
  /** `me` asks and waits here. The later commands run one second later and lead to its grant. */
  readonly first: readonly Command[];
  readonly later?: readonly Command[];
  readonly want: string | null;
}

const cases: Record<string, Case> = {
  "nothing, where it was granted at once": {
    ...{ pools: [pool("aws", 1)], first: [acquire("me", "aws")], want: null },
  },
  "one that was held": {
    pools: [pool("aws", 1)],
    first: [acquire("a", "aws"), acquire("me", "aws")],
    later: [release("a")],
    want: "no_free",
  },
  "more than there were": {
    pools: [pool("aws", 2)],
    first: [acquire("a", "aws"), acquire("me", "aws:2")],
    later: [release("a")],
    want: "no_free",
  },
  "one that was drained": {
    pools: [pool("aws", 1)],
    first: [change("aws-1", { drained: true }), acquire("me", "aws")],
    later: [change("aws-1", { drained: false })],
    want: "no_free",
  },
  "the rest of one that had come back": {
    pools: [pool("aws", 1, { cooldownMs: 5_000 })],
    first: [acquire("a", "aws"), acquire("me", "aws")],
    later: [release("a")],
    want: "no_free",
  },
  "a limit that a claim of another had used up": {
    pools: [pool("aws", 3, { limit: 2, cooldownMs: 5_000 })],
    first: [acquire("a", "aws:2"), acquire("me", "aws")],
    later: [release("a", { claim: "1" })],
    want: "limit_reached",
  },
  "a limit, where the pace opened in the same moment": {
    pools: [pool("aws", 2, { limit: 1, pace })],
    first: [acquire("a", "aws", { ttlMs: 10_000 }), acquire("me", "aws")],
    want: "limit_reached",
  },
  room: {
    pools: [capacityPool({ m: { capacity: { vcpus: 9 } } })],
    first: [want("a", room(5)), want("me", room(5))],
    later: [release("a")],
    want: "no_room",
  },
  "those before it": {
    pools: [pool("aws", 2)],
    first: [acquire("a", "aws"), acquire("b", "aws:2"), acquire("me", "aws")],
    later: [leave("b")],
    want: "behind_others",
  },
  "the pace of its pool": {
    pools: [pool("aws", 2, { pace })],
    first: [acquire("a", "aws"), acquire("me", "aws")],
    want: "paced",
  },
  "the pace of a pool above its own": {
    pools: [account({ pace }), pool("aws", 2, under), pool("set", 2, under)],
    first: [acquire("a", "aws"), acquire("me", "set")],
    want: "paced",
  },
  "one that came back when the pace was open": {
    pools: [pool("aws", 1, { pace: { ...pace, everyMs: 500 } })],
    first: [acquire("a", "aws"), acquire("me", "aws")],
    later: [release("a")],
    want: "no_free",
  },
  "a pace that reports had made slower": {
    pools: [pool("aws", 2, { pace, adaptive: { ...defaultAdaptive, max: 6 } })],
    first: [
      ...[acquire("a", "aws"), { type: "signal", id: "a" as RequestId, throttled: true } as const],
      ...[acquire("b", "aws"), release("a"), acquire("me", "aws")],
    ],
    want: "limit_reduced",
  },
  "a pace that an operator did away with": {
    pools: [pool("aws", 2, { pace: { ...pace, everyMs: 3_600_000 } })],
    first: [acquire("a", "aws"), acquire("me", "aws")],
    later: [{ type: "pin", pool: "aws" as PoolName, rate: 60_000, reason: operator }],
    want: "paced",
  },
  "a limit, given back next door": {
    pools: [account({ limit: 1 }), pool("aws", 2, under), pool("set", 2, under)],
    first: [acquire("a", "aws"), acquire("me", "set")],
    later: [release("a")],
    want: "limit_reached",
  },
  "a limit, given back in a pool that has more": {
    pools: [account({ limit: 1 }), pool("aws", 2, under)],
    first: [acquire("a", "aws"), acquire("me", "aws")],
    later: [release("a")],
    want: "limit_reached",
  },
  "a limit, given back by one that rests": {
    pools: [account({ limit: 1 }), pool("aws", 2, { ...under, cooldownMs: 5_000 })],
    first: [acquire("a", "aws"), acquire("me", "aws")],
    later: [release("a")],
    want: "limit_reached",
  },
  "a limit, given back by one that is dirty": {
    pools: [account({ limit: 1 }), pool("aws", 2, { ...under, onRelease: "dirty" })],
    first: [acquire("a", "aws"), acquire("me", "aws")],
    later: [release("a")],
    want: "limit_reached",
  },
  "its place in a line of which several were let go at once": {
    pools: [pool("aws", 3)],
    first: [acquire("a", "aws:2"), acquire("b", "aws:2"), acquire("me", "aws")],
    later: [release("a")],
    want: "behind_others",
  },
  "a word from outside": {
    pools: [pool("aws", 1, { admission: { by: "test" } })],
    first: [acquire("me", "aws")],
    later: [{ type: "admit", pool: "aws" as PoolName, grants: 1, forMs: 1_000 }],
    want: "admission",
  },
  "the last of its group": {
    pools: [pool("aws", 2)],
    first: [acquire("me", "aws", { group: { name: "g", size: 2 } })],
    later: [acquire("you", "aws", { group: { name: "g", size: 2 } })],
    want: "group_incomplete",
  },
};

/** The cause in the grant's event; undefined if there was no grant. */
function wantOf({ events }: Lending, id: string): string | null | undefined {
  for (const event of events) {
    if (event.type === "lease-granted" && event.id === id) return event.waitedFor ?? null;
  }
  return undefined;
}

test.each(Object.entries(cases))(
  "waitedFor() is %s",
  (_, { pools, first, later = [], want: code }) => {
    const lending = new Lending(...pools);
    for (const command of first) lending.do(command);
    lending.now = 1_000 as Instant;
    for (const command of later) lending.do(command);
    runTo(lending, 60_000);
    expect(wantOf(lending, "me")).toBe(code);
  },
);

test("waitedFor() is not known where a new configuration let it go", () => {
  const lending = new Lending(pool("aws", 2, { pace }));
  lending.outcome(acquire("a", "aws"), acquire("me", "aws"));
  lending.now = 1_000 as Instant;
  lending.configure(pool("aws", 2));
  expect(wantOf(lending, "me")).toBeNull();
});

test("waitedFor() is a pace only where that was closed while it waited, or was changed", () => {
  const lending = new Lending(pool("aws", 3, { pace: { ...pace, everyMs: 3_600_000 } }));
  const at = (now: number, ...commands: readonly Command[]) => {
    lending.now = now as Instant;
    for (const command of commands) lending.do(command);
  };
  const pin = (rate: number): Command => {
    return { type: "pin", pool: "aws" as PoolName, rate, reason: operator };
  };
  at(0, acquire("a", "aws"));
  at(500, acquire("b", "aws"));
  at(1_000, pin(60_000));
  expect(wantOf(lending, "b")).toBe("paced");
  at(2_000, acquire("large", "aws:3"), acquire("c", "aws"));
  at(3_000, leave("large"));
  expect(wantOf(lending, "c")).toBe("behind_others");
});

test("waitedFor() is no pace that had opened long before the one ahead left", () => {
  const lending = new Lending(pool("aws", 3, { pace }));
  lending.outcome(acquire("a", "aws"), acquire("large", "aws:3"), acquire("me", "aws"));
  runTo(lending, 30_000);
  lending.do(leave("large"));
  expect(wantOf(lending, "me")).toBe("behind_others");
});

test("waitedFor() is nothing for the last of a group, who did not wait", () => {
  const lending = new Lending(pool("aws", 2));
  const group = { name: "g", size: 2 };
  lending.do(acquire("first", "aws", { group }));
  lending.now = 1_000 as Instant;
  lending.do(acquire("last", "aws", { group }));
  expect(wantOf(lending, "first")).toBe("group_incomplete");
  expect(wantOf(lending, "last")).toBeNull();
});

test("waitedFor() is unknown in a decision of hundreds of events", () => {
  const wantAmong = (expiring: number) => {
    const lending = new Lending(pool("aws", expiring));
    for (let job = 0; job < expiring; job++)
      lending.do(acquire(`j${job}`, "aws", { ttlMs: 1_000 }));
    lending.do(acquire("me", "aws", { ttlMs: 5_000 }));
    lending.tickAt(1_000);
    return wantOf(lending, "me");
  };
  expect([wantAmong(256), wantAmong(257)]).toEqual(["no_free", null]);
});

test("waitedFor() is unknown if many wait for leases of hundreds of claims", () => {
  const lending = new Lending(pool("aws", 1_000));
  lending.do(acquire("large", "aws:1000"));
  for (let job = 1; job <= 100; job++) lending.do(acquire(`j${job}`, "aws"));
  lending.now = 1_000 as Instant;
  lending.do(release("large"));
  expect([wantOf(lending, "j1"), wantOf(lending, "j100")]).toEqual(["no_free", null]);
});
