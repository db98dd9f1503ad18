/**
 * Boskos's own tables of what a new configuration makes of what is stored, and where Berth does
 * better. A resource is written `name:pool/state/holder`; behind it stands `@T` if it is as it was
 * before, `@N` if it was touched. New dynamic ones are `+`: Boskos gives them random names.
 */

import { describe, expect, test } from "vitest";
import type { Command, ImportedResource } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import type { DynamicPolicy, PoolSpec } from "../model/policy.ts";
import { exclusiveClaim } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { acquire, change, Lending, pool, release } from "./lending.suite.ts";

const T = 1_000_000;
/** Earlier than Berth itself deletes resources that are `toBeDeleted`. */
const N = T + 10_000;

/** Static names, or the bounds of dynamic ones. */
type Config = Readonly<Record<string, readonly string[] | readonly [number, number]>>;

interface Row {
  readonly stored: readonly string[];
  /** Pools whose resources are all listed where they are stored. */
  readonly listed?: readonly string[];
  readonly config: Config;
  readonly want: readonly string[];
  /** The pools that remain, if the case checks them. */
  readonly pools?: readonly string[];
}

function dynamic(min: number, max: number, more: Partial<DynamicPolicy> = {}) {
  return { dynamic: { min, max, state: "free", lifespanMs: null, ...more } };
}

function specs(config: Config): PoolSpec[] {
  return Object.entries(config).map(([name, wanted]) => {
    const [first, second] = wanted;
    if (typeof first === "number" && typeof second === "number") {
      return pool(name, [], dynamic(first, second));
    }
    return pool(name, wanted.map(String));
  });
}

/** `dt_1:dt/busy/o!past` expired before T; `!future` will, after N. */
function parsed(text: string, index: number): ImportedResource {
  const [, name, type, state = "free", holder = "", expiry] =
    /^([^:]+):([^/!]+)(?:\/([^/!]+))?(?:\/([^!]+))?(?:!(past|future))?$/.exec(text) ?? [];
  const expiresAt = (expiry === "past" ? T - 1 : N + 60_000) as Instant;
  return {
    name: name as ResourceName,
    pool: type as PoolName,
    state,
    holder,
    id: `lease-${index}` as RequestId,
    userData: { from: "before" },
    ...(expiry === undefined ? undefined : { expiresAt }),
  };
}

/** A core with these resources since T. */
function seeded({ stored, listed = ["t"] }: Pick<Row, "stored" | "listed">): Lending {
  const resources = stored.map(parsed);
  const byPool = Map.groupBy(resources, ({ pool: name }) => name);
  const pools = Array.from(byPool, ([name, members]) =>
    listed.includes(name)
      ? pool(
          name,
          members.map((member) => member.name),
        )
      : pool(name, [], dynamic(0, 100)),
  );
  const lending = new Lending();
  lending.now = T as Instant;
  lending.configure(...pools);
  lending.do({ type: "import", resources });
  return lending;
}

function shown({ state }: Lending): string[] {
  const lines = Array.from(state.resources.values(), (resource) => {
    const { name, pool: of, state: now, changedAt } = resource;
    const claim = exclusiveClaim(resource);
    const made = resource.userData["from"] === undefined && resource.dynamic;
    const holder = claim === null ? "" : `/${claim.lease.ask.holder}`;
    return `${made ? "+" : name}:${of.name}/${now}${holder}@${changedAt === T ? "T" : "N"}`;
  });
  return lines.sort();
}

const three = ["a", "b", "c"];
const seven = ["1", "2", "3", "4", "5", "6", "7"];

const rows: Readonly<Record<string, Row>> = {
  "Y1 adopts what is stored for a type that becomes dynamic": {
    stored: ["res-1:t", "dt_1:mason", "dt_2:mason"],
    listed: ["t", "mason"],
    config: { t: ["res-1"], mason: [2, 4] },
    want: ["dt_1:mason/free@T", "dt_2:mason/free@T", "res-1:t/free@T"],
  },
  "Y2 adds what is missing": {
    stored: ["res-1:t"],
    config: { t: ["res-1", "res-2"], dt: [1, 2] },
    want: ["+:dt/free@N", "res-1:t/free@T", "res-2:t/free@N"],
  },
  "Y3 changes nothing where all is as it should be": {
    stored: ["res-1:t", "dt_1:dt"],
    config: { t: ["res-1"], dt: [1, 2] },
    want: ["dt_1:dt/free@T", "res-1:t/free@T"],
  },
  "Y4 removes static ones and marks dynamic ones that are gone from the file": {
    stored: ["res:t", "dt_1:dt"],
    config: {},
    want: ["dt_1:dt/toBeDeleted@N"],
    pools: ["dt"],
  },
  "Y5 drops a pool that has nothing": { stored: [], config: {}, want: [], pools: [] },
  "Y6 keeps what is held": {
    stored: ["res:t/busy/o", "dt_1:dt/busy/o"],
    config: {},
    want: ["dt_1:dt/busy/o@T", "res:t/busy/o@T"],
    pools: ["t", "dt"],
  },
  "Y7 marks none while enough are on their way out": {
    stored: ["res-1:t/tombstone", "dt_1:dt/toBeDeleted", "dt_2:dt", "dt_3:dt"],
    config: { t: ["res-2"], dt: [1, 2], dt2: [1, 2] },
    want: [
      ...["+:dt2/free@N", "dt_1:dt/toBeDeleted@T", "dt_2:dt/free@T", "dt_3:dt/free@T"],
      "res-2:t/free@N",
    ],
  },
  "Y8 keeps what is held beside what is new": {
    stored: ["res-1:t/busy/o", "dt_1:dt", "dt_2:dt/tombstone", "dt_3:dt/busy/o"],
    config: { t: ["res-2"], dt: [1, 2], dt2: [1, 2] },
    want: [
      ...["+:dt2/free@N", "dt_1:dt/free@T", "dt_3:dt/busy/o@T", "res-1:t/busy/o@T"],
      "res-2:t/free@N",
    ],
  },
  "Y9 replaces static ones": {
    stored: ["res-1:t/tombstone"],
    config: { t: ["res-2"], t2: ["res-3"] },
    want: ["res-2:t/free@N", "res-3:t2/free@N"],
  },
  "Y10 marks what has expired and removes tombstones": {
    stored: ["dt_1:dt!past", "dt_2:dt", "dt_3:dt/tombstone!past", "dt_4:dt"],
    config: { dt: [2, 4] },
    want: ["dt_1:dt/toBeDeleted@N", "dt_2:dt/free@T", "dt_4:dt/free@T"],
  },
  "Y11 lets what is held outlive its time": {
    stored: ["dt_1:dt/tombstone!past", "dt_2:dt", "dt_3:dt/busy/o!past", "dt_4:dt/busy/o"],
    config: { dt: [1, 3] },
    want: ["dt_2:dt/free@T", "dt_3:dt/busy/o@T", "dt_4:dt/busy/o@T"],
  },
  "Y12 makes one for those that are gone, not for those that are going": {
    stored: ["dt_1:dt!past", "dt_2:dt", "dt_3:dt/tombstone!past", "dt_4:dt"],
    config: { dt: [4, 6] },
    want: ["+:dt/free@N", "dt_1:dt/toBeDeleted@N", "dt_2:dt/free@T", "dt_4:dt/free@T"],
  },
  "Y13 marks what is too many, by descending name": {
    stored: ["dt_1:dt", "dt_2:dt", "dt_3:dt", "dt_4:dt/toBeDeleted", "dt_5:dt/tombstone"],
    config: { dt: [1, 1] },
    want: [
      ...["dt_1:dt/free@T", "dt_2:dt/toBeDeleted@N", "dt_3:dt/toBeDeleted@N"],
      "dt_4:dt/toBeDeleted@T",
    ],
  },
  "Y14 counts what is going as there": {
    stored: ["dt_1:dt", "dt_2:dt/toBeDeleted", "dt_3:dt/toBeDeleted", "dt_4:dt/tombstone"],
    config: { dt: [4, 6] },
    want: [...["+:dt/free@N", "dt_1:dt/free@T", "dt_2:dt/toBeDeleted@T"], "dt_3:dt/toBeDeleted@T"],
  },
  "Y15 adopts three and makes seven": {
    stored: three.map((name) => `${name}:x`),
    listed: ["x"],
    config: { x: [10, 10] },
    want: [...seven.map(() => "+:x/free@N"), ...three.map((name) => `${name}:x/free@T`)],
  },
  "Y16 keeps those that are listed now, and marks the others": {
    stored: [...three, ...seven].map((name) => `${name}:x`),
    listed: [],
    config: { x: three },
    want: [
      ...seven.map((name) => `${name}:x/toBeDeleted@N`),
      ...three.map((name) => `${name}:x/free@T`),
    ],
  },
  "Y17 moves a static one to the pool that lists it now": {
    stored: ["a:type-0", "b:type-0", "c:type-1"],
    listed: ["type-0", "type-1"],
    config: { "type-0": ["a"], "type-1": ["b", "c"] },
    want: ["a:type-0/free@T", "b:type-1/free@N", "c:type-1/free@T"],
  },
  "Y18 and Z1 make nothing of nothing": { stored: [], config: {}, want: [] },
  "Z2 leaves one of one to four alone": {
    stored: ["dt_1:dt", "s:t/dirty"],
    config: { dt: [1, 4], t: ["s"] },
    want: ["dt_1:dt/free@T", "s:t/dirty@T"],
  },
  "Z3 marks what has expired unless it is held or marked": {
    stored: ["a:dt!future", "b:dt!past", "c:dt/busy/o!past", "d:dt/toBeDeleted!past"],
    config: { dt: [0, 9] },
    want: ["a:dt/free@T", "b:dt/toBeDeleted@N", "c:dt/busy/o@T", "d:dt/toBeDeleted@T"],
  },
  "Z4 makes none where none is the least": { stored: [], config: { dt: [0, 4] }, want: [] },
  "Z5 makes two where two are the least": {
    stored: [],
    config: { dt: [2, 4] },
    want: ["+:dt/free@N", "+:dt/free@N"],
  },
  "Z6 marks the last name of those that nobody holds": {
    stored: ["dt_1:dt", "dt_2:dt", "dt_4:dt/busy/o"],
    config: { dt: [1, 2] },
    want: ["dt_1:dt/free@T", "dt_2:dt/toBeDeleted@N", "dt_4:dt/busy/o@T"],
  },
  "Z7 makes up for a tombstone": {
    stored: ["a:dt", "b:dt/busy/o", "c:dt/toBeDeleted", "d:dt/tombstone"],
    config: { dt: [4, 8] },
    want: ["+:dt/free@N", "a:dt/free@T", "b:dt/busy/o@T", "c:dt/toBeDeleted@T"],
  },
  "Z8 marks the free one where too many are held": {
    stored: ["a:dt", "b:dt/busy/o", "c:dt/busy/o", "d:dt/busy/o"],
    config: { dt: [1, 2] },
    want: ["a:dt/toBeDeleted@N", "b:dt/busy/o@T", "c:dt/busy/o@T", "d:dt/busy/o@T"],
  },
  "Z9 winds up a pool that is gone": {
    stored: ["a:dt", "b:dt", "c:dt/tombstone", "d:dt/busy/o"],
    config: {},
    want: ["a:dt/toBeDeleted@N", "b:dt/toBeDeleted@N", "d:dt/busy/o@T"],
    pools: ["dt"],
  },
  "Z11 drops a pool of tombstones at once": {
    stored: ["a:dt/tombstone", "b:dt/tombstone"],
    config: {},
    want: [],
    pools: [],
  },
};

describe("configure", () => {
  test.each(Object.entries(rows))("%s", (_, { stored, listed, config, want, pools }) => {
    const lending = seeded({ stored, ...(listed && { listed }) });
    lending.tickAt(N);
    lending.configure(...specs(config));
    expect(shown(lending)).toEqual([...want].sort());
    if (pools !== undefined) expect([...lending.state.pools.keys()]).toEqual(pools);
    // Once is enough.
    expect(lending.configure(...specs(config)).events).toEqual([]);
  });

  test("Z10 drops a dynamic pool that never had anything", () => {
    const lending = new Lending(...specs({ dt: [0, 4] }));
    lending.configure();
    expect([...lending.state.pools.keys()]).toEqual([]);
  });
});

const held = (holder: string, resource: string, state: string): Command => {
  return { type: "release-held", holder, resource: resource as ResourceName, state };
};
const take = (name: string, state: string, into: string): Command => ({
  type: "take",
  holder: "cleaner",
  resources: [name as ResourceName],
  ids: [`take-${name}` as RequestId],
  state,
  into,
});

describe("better than Boskos,", () => {
  test("a held static resource moves when it is released, with its user data (F13)", () => {
    const stored = ["b:type-0/busy/o", "s:t"];
    const lending = seeded({ stored, listed: ["type-0", "t"] });
    lending.configure(...specs({ "type-1": ["b"], t: ["s", "new"] }));
    expect(shown(lending)).toEqual(["b:type-0/busy/o@T", "new:t/free@T", "s:t/free@T"]);
    lending.do(held("o", "b", "dirty"));
    expect(lending.resource("b")).toMatchObject({ state: "dirty", userData: { from: "before" } });
    expect(lending.resource("b").pool.name).toBe("type-1");
    expect([...lending.state.pools.keys()]).toEqual(["t", "type-1"]);
  });

  test("names are the pool's with a number that is never used again", () => {
    const lending = new Lending(...specs({ dt: [1, 1] }));
    expect([...lending.state.resources.keys()]).toEqual(["dt-1"]);
    lending.do(take("dt-1", "free", "busy"));
    lending.do(held("cleaner", "dt-1", "tombstone"));
    expect([...lending.state.resources.keys()]).toEqual(["dt-2"]);
  });

  test("more are made whenever a request waits and `max` allows it (F17)", () => {
    const lending = new Lending(...specs({ dt: [0, 1] }));
    expect(lending.outcome(acquire("a", "dt")).type).toBe("granted");
    expect(lending.outcome(acquire("b", "dt")).type).toBe("waiting");
    // `max` rises later: the request that got no resource at first gets one then.
    lending.configure(...specs({ dt: [0, 2] }));
    expect(lending.held("b")).toEqual(["dt-2"]);
    expect(lending.outcome(acquire("c", "dt")).type).toBe("waiting");
    lending.do({ type: "release", id: "a" as RequestId, state: "tombstone" });
    expect(lending.held("c")).toEqual(["dt-3"]);
  });

  test("one is made in place of a drained one, which nobody can have", () => {
    const lending = new Lending(...specs({ dt: [1, 2] }));
    lending.do(change("dt-1", { drained: true }));
    expect(lending.outcome(acquire("a", "dt")).type).toBe("granted");
    expect(lending.held("a")).toEqual(["dt-2"]);
  });

  test("a resource marked for deletion is removed after 30 seconds without a cleaner", () => {
    const lending = seeded({ stored: ["a:dt"] });
    lending.configure();
    expect(shown(lending)).toEqual(["a:dt/toBeDeleted@T"]);
    lending.tickAt(T + 29_999);
    expect(shown(lending)).toHaveLength(1);
    const { events } = lending.tickAt(T + 30_000);
    expect(events).toMatchObject([
      { type: "resource-changed", resource: "a", state: "tombstone" },
      { type: "resource-removed", resource: "a" },
      { type: "pool-removed", pool: "dt" },
    ]);
  });

  test("a cleaner has all the time it needs, and no other is marked meanwhile (F19)", () => {
    const lending = seeded({ stored: ["a:dt", "b:dt"] });
    lending.configure(...specs({ dt: [0, 1] }));
    expect(shown(lending)).toEqual(["a:dt/free@T", "b:dt/toBeDeleted@T"]);
    lending.do(take("b", "toBeDeleted", "cleaning"));
    lending.configure(...specs({ dt: [0, 1] }));
    lending.tickAt(T + 3_600_000);
    expect(shown(lending)).toEqual(["a:dt/free@T", "b:dt/cleaning/cleaner@T"]);
    lending.do(held("cleaner", "b", "tombstone"));
    expect(shown(lending)).toEqual(["a:dt/free@T"]);
  });

  test("a resource marked for deletion is not lent again, in any state of its holder", () => {
    const lending = seeded({ stored: ["a:dt/toBeDeleted/o"] });
    lending.do(held("o", "a", "free"));
    expect(lending.resource("a").state).toBe("toBeDeleted");
  });

  test("resources of a removed resource are cleaned and lent again (F2)", () => {
    const lending = seeded({ stored: ["virtual:dt/tombstone/o", "child:t/virtual"] });
    lending.do(held("o", "virtual", "tombstone"));
    expect(lending.resource("child").state).toBe("dirty");
  });

  test("makes as many as one request needs", () => {
    const lending = new Lending(pool("dt", [], dynamic(0, 3)));
    lending.do(acquire("a", "dt:2"));
    expect(lending.held("a")).toEqual(["dt-1", "dt-2"]);
    lending.outcome(acquire("b", "dt"), acquire("c", "dt:2"));
    expect(lending.held("b")).toEqual(["dt-3"]);
    lending.do(release("a"));
    expect(lending.held("c")).toHaveLength(2);
  });

  test("a resource marked for deletion is lent again once the file lists it", () => {
    const lending = new Lending(pool("dt", [], dynamic(2, 2)));
    lending.configure(pool("dt", [], dynamic(0, 0)));
    expect(lending.resource("dt-1").state).toBe("toBeDeleted");
    lending.configure(pool("dt", 2));
    lending.do(acquire("a", "dt:2"));
    expect(lending.held("a")).toEqual(["dt-1", "dt-2"]);
  });

  test("a lifespan counts from the release, without any call (F21)", () => {
    const lending = new Lending(pool("dt", [], dynamic(1, 2, { lifespanMs: 60_000 })));
    lending.do(take("dt-1", "free", "busy"));
    lending.tickAt(3_600_000);
    expect(lending.resource("dt-1").state).toBe("busy");
    lending.do(held("cleaner", "dt-1", "free"));
    lending.tickAt(3_659_999);
    expect(lending.resource("dt-1").state).toBe("free");
    lending.tickAt(3_660_000);
    expect(lending.resource("dt-1").state).toBe("toBeDeleted");
  });
});
