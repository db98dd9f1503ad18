import { describe, expect, test } from "vitest";
import type { ResourceName } from "../model/ids.ts";
import {
  type Action,
  type PlannedCluster,
  type PoolSnapshot,
  planPool,
  type Role,
} from "./plan.ts";

const unlimited = Number.POSITIVE_INFINITY;

/** `clusters("free", "lent stale")`: c1 is the oldest. A third word is the kind. */
function clusters(...texts: readonly string[]): PlannedCluster[] {
  return texts.map((text, index) => {
    const [role, ...marks] = text.split(" ");
    return {
      name: `c${index + 1}` as ResourceName,
      role: role as Role,
      kind: marks.find((mark) => mark.startsWith("kind")) ?? "stock",
      isStale: marks.includes("stale") || marks.includes("leaving"),
      mustLeave: marks.includes("leaving"),
      isFrozen: marks.includes("frozen"),
      isLate: marks.includes("late"),
      age: index,
    };
  });
}

function actionsOf(pool: Partial<PoolSnapshot>): readonly Action[] {
  return planPool({
    size: 0,
    configuredSize: pool.size ?? 0,
    running: 0,
    max: unlimited,
    concurrent: unlimited,
    hibernates: true,
    stock: "stock",
    clusters: [],
    demand: new Map(),
    accepted: pool.demand ?? new Map(),
    room: unlimited,
    wantedByOthers: 0,
    closed: null,
    ...pool,
  });
}

function planOf(pool: Partial<PoolSnapshot>): string[] {
  return actionsOf(pool).map((action) => {
    if (action.do !== "create") return `${action.do} ${action.name}`;
    return action.kind === "stock" ? "create" : `create ${action.kind}`;
  });
}

const waiting = (count: number, kind = "stock") => new Map([[kind, count]]);
const times = (count: number, text: string) => Array<string>(count).fill(text);

interface Case {
  readonly pool: Partial<PoolSnapshot>;
  readonly want: readonly string[];
}

const sizes: Record<string, Case> = {
  "P1: size 3 and no clusters: three are created": {
    pool: { size: 3 },
    want: times(3, "create"),
  },
  "P2: size 3, max 4, two lent and one destroying: exactly one is created": {
    pool: { size: 3, max: 4, clusters: clusters("lent", "lent", "destroying") },
    want: ["create"],
  },
  "P3: concurrent 2, one creating and one destroying: nothing, though a request waits": {
    pool: { concurrent: 2, clusters: clusters("creating", "destroying"), demand: waiting(2) },
    want: [],
  },
  "P4: two missing, one broken and room for one: created first, then the broken one goes": {
    pool: { size: 2, max: 2, clusters: clusters("doomed") },
    want: ["create", "destroy c1"],
  },
  "P4: the creation gets the only place of concurrent, and the broken one waits": {
    pool: { size: 2, max: 2, concurrent: 1, clusters: clusters("doomed") },
    want: ["create"],
  },
  "P5: size 5 to 2: the newest in creation twice, then the longest asleep; the awake one stays": {
    pool: {
      size: 2,
      running: 1,
      clusters: clusters("free", "hibernated", "hibernated", "creating", "creating"),
    },
    want: ["destroy c5", "destroy c4", "destroy c2"],
  },
  "P6: size 0: one is created for a request": {
    pool: { demand: waiting(1) },
    want: ["create"],
  },
  "P6: and none once it has one": {
    pool: { clusters: clusters("lent") },
    want: [],
  },
  "P7: max 0: nothing is created, however many wait": {
    pool: { max: 0, size: 3, demand: waiting(2) },
    want: [],
  },
  "P8: four outdated: one goes and one is created for it": {
    pool: { size: 4, clusters: clusters(...times(4, "hibernated stale")) },
    want: ["destroy c1", "create"],
  },
  "P8: no further one while something is created": {
    pool: {
      size: 4,
      clusters: clusters("creating", ...times(3, "hibernated stale")),
    },
    want: [],
  },
  "P8: at max the new one waits for the old one to be gone": {
    pool: { size: 2, max: 2, clusters: clusters("hibernated stale", "hibernated stale") },
    want: ["destroy c1"],
  },
  "P8: and meanwhile no second one goes": {
    pool: { size: 2, max: 2, clusters: clusters("destroying", "hibernated stale") },
    want: [],
  },
  "P8: one that is lent is not replaced": {
    pool: { clusters: clusters("lent stale") },
    want: [],
  },
  "P8: one that a request waits for is not replaced while it wakes up": {
    pool: { demand: waiting(1), clusters: clusters("resuming stale") },
    want: [],
  },
  "P13: a removed pool: everything goes but what is lent or kept": {
    pool: {
      size: 3,
      closed: "the pool was removed",
      clusters: clusters("lent", "hibernated", "creating", "doomed", "kept"),
    },
    want: ["destroy c4", "destroy c3", "destroy c2"],
  },
  "Q9: room for one under a shared limit: one": {
    pool: { size: 3, room: 1 },
    want: ["create"],
  },
  "Q9: the stock leaves the room that requests of other pools wait for": {
    pool: { size: 3, room: 2, wantedByOthers: 2 },
    want: [],
  },
  "Q9: a request does not": {
    pool: { size: 3, room: 2, wantedByOthers: 2, demand: waiting(1) },
    want: ["create"],
  },
  "requests count beside the stock": {
    pool: { size: 1, demand: waiting(2), clusters: clusters("hibernated") },
    want: ["create", "create", "wake c1"],
  },
  "a request for which another pool makes one may have one of this pool, but none is made": {
    pool: { accepted: waiting(2), clusters: clusters("hibernated") },
    want: ["wake c1"],
  },
  "each kind of parameters counts alone": {
    pool: {
      size: 1,
      demand: waiting(1, "kind-b"),
      clusters: clusters("hibernated", "hibernated", "free kind-c"),
    },
    want: ["create kind-b", "destroy c1", "destroy c3"],
  },
  "used ones go as concurrent allows, the oldest first": {
    pool: { concurrent: 2, clusters: clusters("doomed", "doomed", "doomed") },
    want: ["destroy c1", "destroy c2"],
  },
  "to cancel a creation needs no place of concurrent": {
    pool: { concurrent: 1, clusters: clusters("creating") },
    want: ["destroy c1"],
  },
};

const power: Record<string, Case> = {
  "P1: none stays awake with running 0": {
    pool: { size: 2, clusters: clusters("free", "free") },
    want: ["stop c1", "stop c2"],
  },
  "the oldest stay awake": {
    pool: { size: 3, running: 1, clusters: clusters("free", "free", "free") },
    want: ["stop c2", "stop c3"],
  },
  "C2: two asleep and one request: the oldest is woken": {
    pool: { size: 2, demand: waiting(1), clusters: clusters("hibernated", "hibernated") },
    want: ["create", "wake c1"],
  },
  "C3: a late one is not relied on: the next is woken beside it": {
    pool: { size: 1, demand: waiting(1), clusters: clusters("resuming late", "hibernated") },
    want: ["wake c2"],
  },
  "one that is waking counts": {
    pool: { size: 1, demand: waiting(1), clusters: clusters("resuming", "hibernated") },
    want: [],
  },
  "a sleeping one is woken although one is being created": {
    pool: { size: 1, demand: waiting(1), clusters: clusters("creating", "hibernated") },
    want: ["wake c2"],
  },
  "H1: one that is being stopped is woken again": {
    pool: { demand: waiting(1), clusters: clusters("stopping") },
    want: ["wake c1"],
  },
  "one that wakes up is not stopped half way": {
    pool: { size: 1, clusters: clusters("resuming") },
    want: [],
  },
  "H2: a driver that cannot hibernate: nothing is stopped": {
    pool: { size: 2, hibernates: false, clusters: clusters("free", "free") },
    want: [],
  },
};

describe("planPool() creates and destroys", () => {
  test.each(Object.entries(sizes))("%s", (_, { pool, want }) => expect(planOf(pool)).toEqual(want));
});

describe("planPool() wakes and stops", () => {
  test.each(Object.entries(power))("%s", (_, { pool, want }) => expect(planOf(pool)).toEqual(want));
});

test.each([
  ["create", { size: 1 }, "the pool keeps 1"],
  ["create", { size: 2, configuredSize: 3 }, "the pool keeps 3, and there is room for 2"],
  ["destroy", { size: 0, clusters: clusters("free") }, "the pool keeps only 0"],
  [
    "destroy",
    { size: 1, configuredSize: 2, clusters: clusters("free", "free") },
    "the pool keeps 2, and there is room for 1",
  ],
])("planPool() says why it %ss, with the size of the configuration", (what, pool, why) => {
  expect(actionsOf(pool)[0]).toMatchObject({ do: what, why });
});
