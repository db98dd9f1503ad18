import { describe, expect, test } from "vitest";
import { emptyState } from "../apply/create.ts";
import type { ImportedResource } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { defaultPolicy, type PoolSpec } from "../model/policy.ts";
import { exclusiveClaim, type State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { decide } from "./decide.ts";

const now = 1_000_000 as Instant;
let ids = 0;

function imported(name: string, more: Partial<ImportedResource> = {}): ImportedResource {
  return {
    name: name as ResourceName,
    pool: "t" as PoolName,
    state: "free",
    holder: "",
    id: `r${ids++}` as RequestId,
    userData: {},
    ...more,
  };
}

function spec(name: string, members: readonly string[], dynamic?: { min: number; max: number }) {
  const policy = { ...defaultPolicy, ...(dynamic && { dynamic: { ...dynamic, ...usual } }) };
  const listed = members.map((member) => ({ name: member as ResourceName, labels: {} }));
  return { name: name as PoolName, policy, members: listed } satisfies PoolSpec;
}
const usual = { state: "free", lifespanMs: null };

function configured(...pools: PoolSpec[]): State {
  const state = emptyState();
  decide(state, { type: "configure", pools }, now);
  return state;
}

function run(state: State, resources: readonly ImportedResource[], at = now) {
  const { outcome } = decide(state, { type: "import", resources }, at);
  return outcome.type === "imported" ? outcome : undefined;
}

const idle = (state: State, shelf = "free") =>
  Array.from(state.pools.get("t" as PoolName)?.buckets.get(shelf)?.idle ?? [], (r) => r.name);

describe("import", () => {
  test("sets states, user data and holders, and lends in the order given", () => {
    const state = configured(spec("t", ["a", "b", "c"]));
    const outcome = run(state, [
      imported("c"),
      imported("b", { state: "leased", holder: "job", userData: { key: "value" } }),
      imported("a"),
    ]);
    expect(outcome).toMatchObject({ leases: 1, left: [] });
    expect(idle(state)).toEqual(["c", "a"]);
    const held = state.resources.get("b" as ResourceName);
    expect(held).toMatchObject({ state: "leased", userData: { key: "value" } });
    expect(exclusiveClaim(held)?.lease.ask).toMatchObject({ holder: "job", byName: true });
  });

  test("lets its holder give it back by name", () => {
    const state = configured(spec("t", ["a"]));
    run(state, [imported("a", { state: "leased", holder: "job" })]);
    const resource = "a" as ResourceName;
    decide(state, { type: "release-held", holder: "job", resource, state: "dirty" }, now);
    expect(idle(state, "dirty")).toEqual(["a"]);
  });

  test("makes those of a dynamic pool, and keeps when they are to go", () => {
    const state = configured(spec("t", [], { min: 0, max: 2 }));
    const expiresAt = (now + 5_000) as Instant;
    run(state, [imported("uuid-1", { expiresAt })]);
    const resource = state.resources.get("uuid-1" as ResourceName);
    expect(resource).toMatchObject({ dynamic: true, expiresAt });
    decide(state, { type: "tick" }, (now + 5_000) as Instant);
    expect(resource?.state).toBe("toBeDeleted");
  });

  test("leaves out a resource that is neither held nor configured", () => {
    const state = configured(spec("t", ["a"]));
    expect(run(state, [imported("x"), imported("y", { pool: "u" as PoolName })])?.left).toEqual([
      { resource: "x", pool: "t", why: "not_configured" },
      { resource: "y", pool: "u", why: "not_configured" },
    ]);
    expect([...state.resources.keys()]).toEqual(["a"]);
  });

  test.each(["t", "gone"])("keeps the lease of what is not configured, in the pool %s", (pool) => {
    const state = configured(spec("t", ["a"]));
    const pools = [spec("t", ["a"])];
    const name = "x" as ResourceName;
    run(state, [imported("x", { pool: pool as PoolName, state: "leased", holder: "job" })]);
    decide(state, { type: "configure", pools }, now);
    expect(exclusiveClaim(state.resources.get(name))?.lease.ask.holder).toBe("job");
    decide(state, { type: "release-held", holder: "job", resource: name, state: "free" }, now);
    expect([...state.resources.keys()]).toEqual(["a"]);
    expect([...state.pools.keys()]).toEqual(["t"]);
  });

  test("changes no held resource, however often it is repeated", () => {
    const state = configured(spec("t", ["a"]));
    const again = imported("a", { state: "leased", holder: "job" });
    run(state, [again]);
    expect(run(state, [{ ...again, id: "other" as RequestId }])).toMatchObject({
      leases: 0,
      left: [{ resource: "a", why: "held_already" }],
    });
    expect(state.leases.size).toBe(1);
  });

  test("does not lend a resource again to a holder that has released it here", () => {
    const state = configured(spec("t", ["a"]));
    const resource = "a" as ResourceName;
    const updatedAt = (now - 60_000) as Instant;
    const old = imported("a", { state: "leased", holder: "job", updatedAt });
    run(state, [old]);
    decide(state, { type: "release-held", holder: "job", resource, state: "free" }, now);
    const left = [{ resource, pool: "t", why: "used_since" }];
    expect(run(state, [{ ...old, id: "b" as RequestId }])).toMatchObject({ leases: 0, left });
    // Boskos used the resource again after that, so it is imported.
    const newer = { ...old, id: "c" as RequestId, updatedAt: (now + 1) as Instant };
    expect(run(state, [newer])).toMatchObject({ leases: 1, left: [] });
  });
});

test("import skips a resource that was used here, if the other broker's time is unknown", () => {
  const state = configured(spec("t", ["a"]));
  run(state, [imported("a", { state: "leased", holder: "job" })]);
  const resource = "a" as ResourceName;
  decide(state, { type: "release-held", holder: "job", resource, state: "free" }, now);
  const again = (updatedAt?: number) => {
    const known = updatedAt === undefined ? undefined : { updatedAt: updatedAt as Instant };
    return run(state, [imported("a", { state: "leased", holder: "job", ...known })])?.left;
  };
  expect([again(), again(now)]).toMatchObject([[{ why: "used_since" }], [{ why: "used_since" }]]);
  expect(again(now + 1)).toEqual([]);
});
