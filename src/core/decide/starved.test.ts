import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import { spacesAhead } from "../explain/space-view.ts";
import { requestView } from "../explain/view.ts";
import type { Item } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import type { PoolSpec } from "../model/policy.ts";
import { anySpace } from "../model/space.ts";
import { dropCaches } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { acquire, change, Lending, leave, pool, release, runTo } from "./lending.suite.ts";

const minuteMs = 60_000;
const ttlMs = 86_400_000;
const [a, b, c] = ["a", "b", "c"] as SpaceName[] as [SpaceName, SpaceName, SpaceName];

/** One start a minute of 20 slots, and a small pool of which `a` holds all. */
function paced(): Lending {
  const pools = pacedPools();
  const made = new Lending(...pools);
  made.do({ type: "configure", pools, spaces: anySpace });
  made.do(acquire("held", "lab", { space: a }));
  return made;
}

function pacedPools(): PoolSpec[] {
  return [
    pool("lab", 1, { ttlMs }),
    pool("install", 20, { pace: { everyMs: minuteMs, burst: 1, jitter: 0 }, ttlMs }),
  ];
}

/** In each minute `b` and `c` ask for a start that they need only for a moment. Returns the starts. */
function starts(made: Lending, minutes: number): string[] {
  const granted: string[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    const before = new Set(made.state.leases.keys());
    for (const space of [b, c]) made.do(acquire(`${space}-${made.now}`, "install", { space }));
    runTo(made, (made.now + minuteMs) as Instant);
    for (const id of made.state.leases.keys()) {
      if (before.has(id)) continue;
      granted.push(id);
      made.do(release(id));
    }
  }
  return granted;
}

/** `a` asks for these, behind a start of `b` that closes the pace. */
function waiting(...ids: readonly string[]): Lending {
  const made = paced();
  made.do(acquire("b-0", "install", { space: b }));
  for (const id of ids) made.do(acquire(id, "install", { space: a }));
  return made;
}

const placesOf = (granted: readonly string[], ...ids: readonly string[]) => {
  return ids.map((id) => granted.indexOf(id));
};

describe("a space that holds much elsewhere", () => {
  test("gets a start after the patience of the pool, and the next one a patience later", () => {
    const granted = starts(waiting("a-1", "a-2", "a-3"), 35);
    expect(placesOf(granted, "a-1", "a-2", "a-3")).toEqual([9, 19, 29]);
  });

  test("gets no more if it leaves and asks again, and the next request takes the place", () => {
    const made = waiting("a-1", "a-2");
    starts(made, 9);
    made.do(leave("a-1"));
    expect(placesOf(starts(made, 12), "a-2")).toEqual([0]);
  });

  test("gets none while it holds something of the pool", () => {
    const pools = [pool("aws", 4, { ttlMs, patienceMs: minuteMs })];
    const made = new Lending(...pools);
    made.do({ type: "configure", pools, spaces: anySpace });
    for (const id of ["a-1", "a-2"]) made.do(acquire(id, "aws", { space: a }));
    for (const id of ["b-1", "b-2"]) made.do(acquire(id, "aws", { space: b }));
    made.do(acquire("a-3", "aws", { space: a }));
    runTo(made, made.now + 5 * minuteMs);
    made.do(acquire("b-3", "aws", { space: b }));
    made.do(release("b-1"));
    expect(made.state.leases.has("b-3" as RequestId)).toBe(true);
  });

  test("is not passed over by newcomers who need less", () => {
    const pools = [pool("lab", 1, { ttlMs }), pool("aws", 2, { ttlMs })];
    const made = new Lending(...pools);
    made.do({ type: "configure", pools, spaces: anySpace });
    made.do(acquire("held", "lab", { space: a }));
    made.do(acquire("b-0", "aws", { space: b }));
    made.do(acquire("a-1", "aws:2", { space: a }));
    const isLent = (id: string) => made.state.leases.has(id as RequestId);
    made.do(acquire("c-1", "aws", { space: c }));
    made.do(release("c-1"));
    runTo(made, made.now + 10 * minuteMs);
    made.do(acquire("c-2", "aws", { space: c }));
    expect([isLent("c-2"), isLent("a-1")]).toEqual([false, false]);
    made.do(release("b-0"));
    expect([isLent("c-2"), isLent("a-1")]).toEqual([false, true]);
  });

  test("is not passed over by requests without a space, from before there were any", () => {
    const made = waiting();
    made.do(acquire("a-1", "install", { space: a }));
    made.do(release("b-0"));
    for (let minute = 0; minute < 12; minute++) {
      made.do(acquire(`old-${minute}`, "install"));
      made.do(acquire(`older-${minute}`, "install"));
      runTo(made, made.now + minuteMs);
    }
    expect(made.state.leases.has("a-1" as RequestId)).toBe(true);
  });

  test("stays behind a higher priority", () => {
    const made = waiting("a-1");
    made.do(acquire("urgent", "install", { space: b, priority: 1 }));
    for (let minute = 0; minute < 12; minute++) {
      runTo(made, made.now + minuteMs);
      const next = minute % 2 === 0 ? c : b;
      made.do(acquire(`urgent-${minute}`, "install", { space: next, priority: 1 }));
    }
    expect(made.state.requests.get("a-1" as RequestId)?.isStarved).toBe(true);
    expect(made.state.leases.has("a-1" as RequestId)).toBe(false);
  });

  test("is told by an event with the pool, and is not counted as a lower share", () => {
    const made = waiting("a-1");
    made.do(acquire("b-1", "install", { space: b, priority: 1 }));
    for (let minute = 0; minute < 10; minute++) {
      runTo(made, made.now + minuteMs);
      made.do(acquire(`c-${minute}`, "install", { space: c, priority: minute === 9 ? 0 : 1 }));
    }
    const starved = { id: "a-1", priority: 0, aged: true, starved: true, pool: "install" };
    expect(made.events).toContainEqual(expect.objectContaining(starved));
    const [own, other] = ["a-1", "c-9"].map((id) => made.state.requests.get(id as RequestId));
    if (own === undefined || other === undefined) throw new Error("They do not wait");
    expect(requestView(own, made.now).isStarved).toBe(true);
    expect(requestView(other, made.now).isStarved).toBe(false);
    expect(spacesAhead(made.state, other)).toEqual({ spacesAhead: 1, starvedAhead: 1 });
  });

  test("gets its turn at the same time after a restart, and without caches", () => {
    const made = waiting("a-1", "a-2");
    starts(made, 14);
    const restarted = new Lending();
    Object.assign(restarted, { state: thaw(JSON.parse(JSON.stringify(freeze(made.state)))) });
    restarted.now = made.now;
    restarted.do({ type: "give-grace" });
    dropCaches(made.state);
    const granted = starts(made, 10);
    expect(placesOf(granted, "a-2")).toEqual([5]);
    expect(starts(restarted, 10)).toEqual(granted);
  });

  test("is not passed over by a request over two pools, if only the other pool was touched", () => {
    const made = paced();
    const pools = [...pacedPools(), pool("gcp", 1, { ttlMs })];
    made.do({ type: "configure", pools, spaces: anySpace });
    made.do(acquire("d-gcp", "gcp", { space: "d" as SpaceName }));
    made.do(acquire("b-0", "install", { space: b }));
    made.do(release("b-0"));
    made.do(acquire("a-1", "install", { space: a }));
    made.do(acquire("c-both", "install gcp", { space: c }));
    for (let minute = 1; minute < 10; minute++) {
      made.do(acquire(`b-${minute}`, "install", { space: b }));
      runTo(made, minute * minuteMs);
      made.do(release(`b-${minute}`));
    }
    made.now = (10 * minuteMs) as Instant;
    made.do(release("d-gcp"));
    expect(made.state.leases.has("a-1" as RequestId)).toBe(true);
    expect(made.state.leases.has("c-both" as RequestId)).toBe(false);
  });

  test("starves in a pool although it holds one that was below it before a reload", () => {
    const pace = { everyMs: minuteMs, burst: 1, jitter: 0 };
    const reload = (made: Lending, policy: object) => {
      const child = pool("child", 1, { ttlMs, ...policy });
      const pools = [pool("install", 20, { ttlMs, pace }), child];
      made.do({ type: "configure", pools, spaces: anySpace });
    };
    const made = new Lending();
    reload(made, { parent: "install" });
    made.do(acquire("held", "child", { space: a }));
    made.do(acquire("a-1", "install", { space: a }));
    expect(placesOf(starts(made, 15), "a-1")).toEqual([-1]);
    reload(made, {});
    expect(placesOf(starts(made, 3), "a-1")).toEqual([0]);
  });

  test("starves in no pool at once, also if that has no pace", () => {
    const pools = [pool("lab", 1, { ttlMs }), pool("aws", 2, { ttlMs })];
    const made = new Lending(...pools);
    made.do({ type: "configure", pools, spaces: anySpace });
    made.do(acquire("held", "lab", { space: a }));
    // Both hold half of the pool at most, and `a` all of another one.
    for (const space of [b, c]) made.do(acquire(`${space}-0`, "aws", { space }));
    made.do(acquire("a-1", "aws", { space: a }));
    runTo(made, made.now + 10 * minuteMs);
    for (const space of [b, c]) made.do(acquire(`${space}-1`, "aws", { space }));
    made.do(release("b-0"));
    expect(made.state.leases.has("a-1" as RequestId)).toBe(true);
  });
});

describe("nobody gets more than a turn by it", () => {
  const held = (made: Lending, space: SpaceName, name: string) => {
    const claims = [...made.state.leases.values()].flatMap((lease) => {
      return lease.ask.space === space ? lease.claims : [];
    });
    return claims.filter(({ resource }) => resource.pool.name === name).length;
  };
  const lending = (...pools: readonly PoolSpec[]) => {
    const made = new Lending(...pools);
    made.do({ type: "configure", pools, spaces: anySpace });
    return made;
  };
  const times = (count: number, work: (index: number) => void) => {
    for (let index = 0; index < count; index++) work(index);
  };

  test("not if it holds one of the pools that its request waits for", () => {
    const made = lending(pool("x", 1, { ttlMs }), pool("aws", 10, { ttlMs }));
    made.do(acquire("a-x", "x", { space: a }));
    times(10, (at) => made.do(acquire(`b-${at}`, "aws", { space: b })));
    // It waits for itself, and would keep all of the other pool.
    made.do(acquire("a-both", "aws:10 x", { space: a }));
    runTo(made, made.now + 11 * minuteMs);
    times(10, (at) => made.do(acquire(`b-next-${at}`, "aws", { space: b })));
    times(10, (at) => made.do(release(`b-${at}`)));
    expect(held(made, b, "aws")).toBe(10);
  });

  test.each([0, 10 * minuteMs])("not with alternatives, nor over two pools (patience %i)", (ms) => {
    for (const wanted of ["p|q", "p q"]) {
      const made = lending(pool("p", 1, { ttlMs, patienceMs: ms }), pool("q", 10, { ttlMs }));
      if (wanted === "p|q") made.do(acquire("c-p", "p", { space: c }));
      times(5, (at) => made.do(acquire(`a-${at}`, "q", { space: a })));
      times(5, (at) => made.do(acquire(`b-${at}`, "q", { space: b })));
      times(20, (at) => made.do(acquire(`b-next-${at}`, "q", { space: b })));
      times(20, (at) => made.do(acquire(`a-next-${at}`, wanted, { space: a })));
      runTo(made, made.now + 11 * minuteMs);
      times(5, (at) => {
        made.do(release(`b-${at}`));
        for (const { id, claims } of [...made.state.leases.values()]) {
          const early = claims.find(({ resource }) => resource.pool.name === "p");
          if (id.startsWith("a-next") && early !== undefined && claims.length > 1) {
            made.do(release(id, { claim: early.id }));
          }
        }
      });
      expect([held(made, a, "q"), held(made, b, "q")], wanted).toEqual([5, 5]);
    }
  });

  test("not with a priority for each request, which then rises", () => {
    const pools = [pool("lab", 1, { ttlMs }), pool("q", 10, { ttlMs })];
    const made = lending(...pools);
    const ageing = { everyMs: 11 * minuteMs, step: 100, max: 0 };
    const priorities = { classes: {}, ageing };
    made.do({ type: "configure", pools, spaces: anySpace, priorities });
    made.do(acquire("a-lab", "lab", { space: a }));
    times(10, (at) => made.do(acquire(`b-${at}`, "q", { space: b })));
    times(10, (at) => made.do(acquire(`a-${at}`, "q", { space: a, priority: -1 - at })));
    times(20, (at) => made.do(acquire(`c-${at}`, "q", { space: c })));
    runTo(made, made.now + 10.5 * minuteMs);
    made.do(release("b-0"));
    runTo(made, made.now + 5 * minuteMs);
    times(9, (at) => made.do(release(`b-${at + 1}`)));
    expect(held(made, a, "q")).toBeLessThanOrEqual(1);
  });

  test("not with a request over the pool and a side pool for each", () => {
    const sides = Array.from({ length: 8 }, (_, at) => `side-${at}`);
    const pools = [...pacedPools(), ...sides.map((name) => pool(name, 5, { ttlMs }))];
    const made = lending(...pools);
    made.do(acquire("held", "lab", { space: a }));
    made.do(acquire("b-0", "install", { space: b }));
    for (const name of sides) made.do(acquire(`a-${name}`, `install ${name}`, { space: a }));
    starts(made, 9);
    // Each of them is looked at in its side pool.
    for (const name of sides) {
      runTo(made, made.now + minuteMs);
      made.do(acquire(`b-${name}`, name, { space: b }));
    }
    expect(starts(made, 4).filter((id) => id.startsWith("a-"))).toEqual([]);
    expect(held(made, a, "install")).toBe(1);
  });

  test("but a space does not starve behind its own request over two pools", () => {
    const made = waiting();
    made.do({
      type: "configure",
      pools: [...pacedPools(), pool("x", 1, { ttlMs })],
      spaces: anySpace,
    });
    made.do(acquire("c-x", "x", { space: c }));
    made.do(acquire("a-both", "install x", { space: a }));
    made.do(acquire("a-1", "install", { space: a }));
    expect(placesOf(starts(made, 12), "a-1")).toEqual([8]);
  });

  const isAhead = (made: Lending, id: string) => {
    return made.state.requests.get(id as RequestId)?.isStarved;
  };

  /**
   * `c` has one of each pool for ever, and `b` the others, for a moment. It asks for more. `a` holds
   * more than both, elsewhere.
   */
  const crowded = () => {
    const scarce = { ttlMs, patienceMs: minuteMs };
    const made = lending(
      pool("lab", 1, { ttlMs }),
      pool("p", 3, scarce),
      pool("q", 2, scarce),
      pool("x", 2, scarce),
    );
    made.do(acquire("a-lab", "lab", { space: a }));
    made.do(acquire("c-each", "p q x", { space: c }));
    for (const wanted of ["p", "p", "q", "x"]) askAgain(made, wanted);
    return made;
  };
  let asked = 0;
  const askAgain = (made: Lending, wanted: string) => {
    made.do(acquire(`b-${++asked}`, wanted, { space: b }));
  };
  /** Those who have something of the pool for a moment release it. Returns who gets it then. */
  const pass = (made: Lending, name: string): string[] => {
    const lent = [...made.state.leases.values()].filter(({ id, claims }) => {
      return id !== "c-each" && claims.some(({ resource }) => resource.pool.name === name);
    });
    const known = new Set(made.state.leases.keys());
    for (const { id } of lent) {
      askAgain(made, name);
      made.do(release(id));
    }
    return [...made.state.leases.keys()].filter((id) => !known.has(id));
  };
  const isOfA = (id: string) => id.startsWith("a-");
  /** A patience later somebody asks, so that it is seen who starves. */
  const later = (made: Lending, ms: number, ...names: readonly string[]) => {
    runTo(made, made.now + ms);
    for (const name of names) askAgain(made, name);
  };
  const ask = (made: Lending, id: string, ...items: readonly Item[]) => {
    const wanted = { holder: "job", items, space: a };
    made.do({ type: "acquire", id: id as RequestId, ask: wanted, waitMs: 0 });
  };
  const drained: Item = { pool: "p" as PoolName, count: 1, resource: "p-1" as ResourceName };
  const pair = (made: Lending, name: string, first: string, second: string) => {
    const group = { name, size: 2 };
    made.do(acquire(`a-${name}-1`, first, { space: a, group }));
    made.do(acquire(`a-${name}-2`, second, { space: a, group }));
  };

  test("not with groups that go ahead and lose a member, and are cancelled later", () => {
    const made = crowded();
    times(4, (at) => {
      pair(made, `g${at}`, "p:2", "p");
      later(made, minuteMs, "p");
      expect(isAhead(made, `a-g${at}-2`)).toBe(true);
      made.do(leave(`a-g${at}-1`));
    });
    times(8, (at) => made.do(acquire(`a-${at}`, "p", { space: a })));
    runTo(made, made.now + minuteMs);
    const granted = pass(made, "p");
    times(4, (at) => {
      made.do(leave(`a-g${at}-2`));
      granted.push(...pass(made, "p"));
    });
    expect(granted.filter(isOfA)).toEqual(["a-0"]);
  });

  test("not if each request that goes ahead is cancelled, before and after a grant", () => {
    const made = crowded();
    made.do(change("p-1", { drained: true }));
    times(8, (at) => ask(made, `a-drained-${at}`, drained));
    times(8, (at) => made.do(acquire(`a-${at}`, "p", { space: a })));
    // In each patience one more of those that cannot be granted goes ahead.
    times(4, () => later(made, minuteMs, "p"));
    expect([3, 4].map((at) => isAhead(made, `a-drained-${at}`))).toEqual([true, false]);
    times(8, (at) => made.do(leave(`a-drained-${at}`)));
    const granted = pass(made, "p");
    times(7, (at) => {
      if (made.state.requests.has(`a-${at + 1}` as RequestId)) made.do(leave(`a-${at + 1}`));
      granted.push(...pass(made, "p"));
    });
    expect(granted.filter(isOfA)).toEqual(["a-0"]);
  });

  test("not with requests that also wait for a dirty resource of the pool", () => {
    const made = crowded();
    const dirty = { pool: "q" as PoolName, count: 1, state: "dirty", into: "cleaning" };
    ask(made, "a-mixed", { pool: "p" as PoolName, count: 3 }, dirty);
    later(made, minuteMs, "p");
    expect(isAhead(made, "a-mixed")).toBe(true);
    made.do(acquire("a-0", "q x", { space: a }));
    made.do(acquire("a-1", "q p", { space: a }));
    runTo(made, made.now + minuteMs);
    const granted = ["x", "q"].flatMap((name) => pass(made, name));
    made.do(release("a-0"));
    made.do(leave("a-mixed"));
    granted.push(...["p", "q", "p", "q"].flatMap((name) => pass(made, name)));
    expect(granted.filter(isOfA)).toEqual(["a-0"]);
  });

  test.each(["a-g-1", "a-g-2"])("but gets back all turns of a group that %s leaves", (leaver) => {
    const made = crowded();
    pair(made, "g", "p", "q");
    made.do(acquire("a-both", "p q", { space: a }));
    later(made, minuteMs, "p", "q");
    expect(["a-g-2", "a-both"].map((id) => isAhead(made, id))).toEqual([true, false]);
    made.do(leave(leaver));
    for (const name of ["p", "q"]) askAgain(made, name);
    expect(isAhead(made, "a-both")).toBe(true);
  });

  test("and a request over several pools gives back no turn for one pool", () => {
    const made = crowded();
    made.do(change("p-1", { drained: true }));
    ask(made, "a-drained", drained);
    made.do(acquire("a-both", "p x", { space: a }));
    made.do(acquire("a-both-next", "p x", { space: a }));
    made.do(acquire("a-next", "p", { space: a }));
    const ahead = () => {
      return ["a-drained", "a-both", "a-both-next", "a-next"].filter((id) => isAhead(made, id));
    };
    later(made, minuteMs, "p");
    expect(ahead()).toEqual(["a-drained", "a-both"]);
    made.do(leave("a-both"));
    later(made, minuteMs / 2, "p");
    expect(ahead()).toEqual(["a-drained", "a-both-next"]);
    later(made, minuteMs / 2, "p");
    expect(ahead()).toEqual(["a-drained", "a-both-next", "a-next"]);
  });

  test("nor after a restart from a snapshot in which a member of half a group goes ahead", () => {
    const made = crowded();
    pair(made, "g", "p:2", "p");
    made.do(leave("a-g-1"));
    const frozen = freeze(made.state);
    const requests = frozen.requests.map((request) => {
      const ranked = { priority: 0, own: 0, at: request.queuedAt, starved: true as const };
      return request.id === "a-g-2" ? { ...request, ranked } : request;
    });
    const state = thaw(JSON.parse(JSON.stringify({ ...frozen, requests })));
    expect(state.requests.get("a-g-2" as RequestId)?.isStarved).toBe(false);
  });

  test.each<[string, (made: Lending) => void, number]>([
    [
      "one of a low priority that others pass for ever",
      (made) => {
        made.do(acquire("a-low", "install", { space: a, priority: -10 }));
        starts(made, 5);
      },
      19,
    ],
    [
      "many that wait for what it holds itself",
      (made) => times(40, (at) => made.do(acquire(`a-${at}-x`, "install lab", { space: a }))),
      9,
    ],
    [
      "one that wants a drained resource",
      (made) => {
        made.do(change("install-20", { drained: true }));
        const items = [{ pool: "install" as PoolName, count: 1, resource: "install-20" }];
        const ask = { holder: "job", items: items as readonly Item[], space: a };
        made.do({ type: "acquire", id: "a-drained" as RequestId, ask, waitMs: 0 });
      },
      19,
    ],
  ])("but a space does not starve behind %s", (_, wait, place) => {
    const made = waiting();
    wait(made);
    made.do(acquire("a-1", "install", { space: a }));
    const before = made.now / minuteMs;
    expect(placesOf(starts(made, 30), "a-1").map((at) => at + before)).toEqual([place]);
  });
});
