/** Holders without a token: what they may do by name, and what happens to their resources. */
import { describe, expect, test } from "vitest";
import type { Command, HeldCommand } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import type { PoolPolicy } from "../model/policy.ts";
import { awaitingAdmission } from "./admit.ts";
import { decide, isOwn } from "./decide.ts";
import { acquire, change, Lending, leave, pool, release, revoke, runTo } from "./lending.suite.ts";

/** `prow` takes a free resource; the lease is called `t`. */
function take(resource: string, into = "busy", id = "t"): Command {
  const [resources, ids] = [[resource as ResourceName], [id as RequestId]];
  return { type: "take", holder: "prow", resources, ids, state: "free", into };
}

type Named = Extract<HeldCommand, { type: "renew-held" | "release-held" }>;

function renewHeld(more: Partial<Named> = {}): Command {
  const command = { holder: "prow", resource: "aws-1" as ResourceName, state: "busy" };
  return { ...command, ...more, type: "renew-held" };
}

function releaseHeld(more: Partial<Named> = {}): Command {
  const command = { holder: "prow", resource: "aws-1" as ResourceName, state: "free" };
  return { ...command, ...more, type: "release-held" };
}

function reset(silentMs: number): Extract<HeldCommand, { type: "reset" }> {
  return { type: "reset", pool: "aws" as PoolName, state: "busy", silentMs, to: "dirty" };
}

const policy: Partial<PoolPolicy> = {
  ...{ ttlMs: 1_000, cooldownMs: 100, lockDelayMs: 5_000 },
  ...{ onRelease: "used", onExpire: "broken" },
  silence: { busy: { afterMs: 1_000, to: "dirty" } },
};
const tick: Command = { type: "tick" };

describe("the resource of a lease that ended at 1,000 goes", () => {
  test.each<[string, Command, Command, { state: string; at: number }]>([
    ["silent, without a token", take("aws-1"), tick, { state: "dirty", at: 1_100 }],
    ["silent, with a token", acquire("t", "aws"), tick, { state: "broken", at: 6_000 }],
    ["revoked, without a token", take("aws-1"), revoke("t"), { state: "dirty", at: 1_100 }],
    [
      "revoked, in a state whose silence means nothing",
      take("aws-1", "leased"),
      revoke("t"),
      { state: "broken", at: 1_100 },
    ],
    ["revoked, with a token", acquire("t", "aws"), revoke("t"), { state: "broken", at: 6_000 }],
    [
      "revoked while it cleaned",
      take("aws-1", "cleaning"),
      revoke("t"),
      { state: "broken", at: 0 },
    ],
    [
      "released while it cleaned",
      take("aws-1", "cleaning"),
      release("t"),
      { state: "used", at: 0 },
    ],
    ["released", take("aws-1"), release("t"), { state: "used", at: 1_100 }],
  ])("to the pool's state for that: %s", (_, start, end, { state, at }) => {
    const lending = new Lending(pool("aws", 1, policy));
    lending.do(start);
    lending.now = 1_000 as typeof lending.now;
    lending.do(end);
    expect(lending.held("t")).toBeUndefined();
    if (at > 0) {
      expect(lending.resource("aws-1")).toMatchObject({ state: "cooling", restsUntil: at });
    }
    runTo(lending, at);
    expect(lending.resource("aws-1")).toMatchObject({ state, claim: null });
  });
});

test("a new file's silence counts from the holder's last heartbeat", () => {
  const silence = (afterMs: number) =>
    pool("aws", 1, { silence: { busy: { afterMs, to: "dirty" } } });
  const lending = new Lending(silence(1_000));
  lending.do(take("aws-1"));
  lending.now = 500 as typeof lending.now;
  lending.configure(silence(5_000));
  lending.tickAt(4_999);
  expect(lending.held("t")).toEqual(["aws-1"]);
  lending.configure(silence(2_000));
  lending.do(tick);
  expect(lending.end("t")).toBe("expired");
});

describe("by its name a holder", () => {
  test.each<[string, Partial<Named>, object]>([
    ["keeps out of another's lease", { holder: "ann" }, { holder: "prow", needsToken: false }],
    ["means the lease that it names", { lease: "x" as RequestId }, { needsToken: false }],
  ])("%s", (_, more, refusal) => {
    const lending = new Lending(pool("aws", 1));
    lending.do(take("aws-1"));
    for (const command of [renewHeld(more), releaseHeld(more)]) {
      expect(lending.outcome(command)).toMatchObject({
        refusal: { code: "not_its_holder", ...refusal },
      });
    }
    const mine = { lease: "t" as RequestId };
    expect(lending.outcome(renewHeld(mine), releaseHeld(mine))).toEqual({ type: "done" });
    expect(lending.held("t")).toBeUndefined();
  });

  test("learns nothing of the last holder if that was another space's of the same name", () => {
    const lending = new Lending(pool("aws", 1));
    const [team, other] = ["team" as SpaceName, "other" as SpaceName];
    const taken = take("aws-1");
    if (taken.type !== "take") throw new Error("it is another command");
    lending.do({ ...taken, space: team });
    expect(lending.outcome(releaseHeld({ space: team }))).toEqual({ type: "done" });
    const lost = { holder: "prow", how: "released", space: team };
    for (const command of [renewHeld({ space: other }), releaseHeld({ space: other })]) {
      const outcome = lending.outcome(command);
      expect(outcome).toMatchObject({ refusal: { code: "not_its_holder", holder: "" } });
      expect(outcome).not.toHaveProperty("refusal.lost");
    }
    expect(lending.outcome(renewHeld({ space: team }))).toMatchObject({ refusal: { lost } });
    for (const again of [releaseHeld({ space: team }), releaseHeld()]) {
      expect(lending.outcome(again)).toEqual({ type: "done" });
    }
  });

  test("cannot touch a lease of its own that has a token", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("t", "aws", { holder: "prow" }));
    for (const command of [renewHeld(), releaseHeld()]) {
      expect(lending.outcome(command)).toMatchObject({
        refusal: { code: "not_its_holder", holder: "prow", needsToken: true },
      });
    }
    expect(lending.held("t")).toEqual(["aws-1"]);
  });

  test("shows with a heartbeat that it knows of its lease", () => {
    const lending = new Lending(pool("aws", 1));
    const polled = { holder: "prow", ttlMs: null, byName: true as const, key: "k" };
    lending.outcome(take("aws-1", "busy", "first"));
    lending.do(acquire("t", "aws", { ...polled, presenceMs: 500 }));
    lending.do(releaseHeld({ lease: "first" as RequestId }));
    expect(lending.state.leases.get("t" as RequestId)?.delivered).toBe(false);
    expect(lending.do(renewHeld()).events).toEqual([
      { type: "lease-delivered", id: "t", delivered: true },
      { type: "lease-renewed", id: "t" },
    ]);
    lending.tickAt(10_000);
    expect(lending.held("t")).toEqual(["aws-1"]);
  });

  test("may set a reserved state on its resource; with a token it may not", () => {
    const lending = new Lending(pool("aws", 1));
    const items = [{ pool: "aws" as PoolName, count: 1, into: "cooling" }];
    const ask = (more: object) => ({ holder: "prow", items, ...more });
    const into = (more: object): Command => {
      return { type: "acquire", id: "t" as RequestId, ask: ask(more), waitMs: 0 };
    };
    expect(lending.outcome(into({}))).toMatchObject({
      refusal: { code: "state_reserved", state: "cooling" },
    });
    expect(lending.outcome(into({ byName: true, ttlMs: null }))).toMatchObject({ type: "granted" });
  });
});

describe("a holder without a token whose lease was revoked", () => {
  const revoked = () => {
    const lending = new Lending(pool("aws", 1, policy));
    lending.outcome(take("aws-1"), revoke("t"));
    return lending;
  };

  test("learns it with its next update, which prolongs nothing", () => {
    const lending = revoked();
    const refusal = { code: "not_its_holder", holder: "", lost: { how: "revoked" } };
    expect(lending.do(renewHeld())).toMatchObject({ events: [], outcome: { refusal } });
    lending.tickAt(1_000);
    expect(lending.end("t")).toBe("revoked");
  });

  test("confirms it with its release", () => {
    const lending = revoked();
    expect(lending.outcome(releaseHeld())).toEqual({ type: "done" });
    expect(lending.end("t")).toBe("revoked");
  });

  test("is not reset after a restart before it has had its time again", () => {
    const lending = revoked();
    lending.tickAt(900);
    lending.do({ type: "give-grace" });
    lending.tickAt(1_500);
    expect(lending.outcome(reset(1_000))).toMatchObject({ holders: new Map() });
  });
});

describe("a reset", () => {
  test("ends the leases of holders that were silent for that time, not earlier", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(take("aws-1"));
    lending.now = 1_000 as typeof lending.now;
    expect(lending.outcome(reset(1_001))).toMatchObject({ holders: new Map() });
    expect(lending.outcome(reset(1_000))).toMatchObject({ holders: new Map([["aws-1", "prow"]]) });
    expect(lending.resource("aws-1").state).toBe("dirty");
  });

  test("does not end a lease with a token", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 9_000 }));
    lending.do(acquire("t", "aws"));
    lending.now = 2_000 as typeof lending.now;
    expect(lending.outcome(reset(1_000))).toMatchObject({ holders: new Map() });
    expect(lending.held("t")).toEqual(["aws-1"]);
  });
});

describe("a take in a pool whose pace has opened, before any tick has run,", () => {
  const waiting = () => {
    const lending = new Lending(pool("aws", 3, { pace: { everyMs: 1_000, burst: 1, jitter: 0 } }));
    lending.do(acquire("first", "aws"));
    lending.do(acquire("second", "aws"));
    lending.now = 1_000 as typeof lending.now;
    return lending;
  };

  test("comes after the request that waited for it, whose grant is not the taker's act", () => {
    const lending = waiting();
    const decision = decide(lending.state, take("aws-3"), lending.now);
    expect(decision.outcome).toMatchObject({ refusal: { code: "none_free" } });
    expect(decision.events).toMatchObject([{ type: "lease-granted", id: "second" }]);
    expect(decision.events.map((_, index) => isOwn(decision, index))).toEqual([false]);
  });

  test("is granted if nobody waits, and that is its own act", () => {
    const lending = waiting();
    lending.do(leave("second"));
    const decision = decide(lending.state, take("aws-3"), lending.now);
    expect(decision.outcome.type).toBe("taken");
    expect(decision.events.map((_, index) => isOwn(decision, index))).toEqual([true]);
  });
});

describe("a take that a gate refuses", () => {
  const admission = { by: "the check" };

  test("is demand for the external check, if only a credit was missing", () => {
    const lending = new Lending(pool("aws", 2, { admission }));
    expect(lending.outcome(take("aws-1"))).toMatchObject({ refusal: { code: "none_free" } });
    expect([...awaitingAdmission(lending.state, lending.now, 0)]).toEqual([["aws", 1]]);
  });

  test("is not, if a limit was reached too", () => {
    const lending = new Lending(pool("aws", 2, { admission, limit: 1 }));
    lending.do({ type: "admit", pool: "aws" as PoolName, grants: 1, forMs: 9_000 });
    lending.do(take("aws-1"));
    expect(lending.outcome(take("aws-2", "busy", "u"))).toMatchObject({
      refusal: { code: "none_free" },
    });
    expect([...awaitingAdmission(lending.state, lending.now, 0)]).toEqual([]);
  });
});

describe.each(["busy", "cooling", "drained", "revoking"])(
  "the state %s, which is the broker's own,",
  (state) => {
    const refused = { type: "refused", refusal: { code: "state_reserved", state } };

    test("is refused where a holder releases", () => {
      const lending = new Lending(pool("aws", 1));
      lending.do(take("aws-1"));
      expect(lending.do(releaseHeld({ state }))).toEqual({ events: [], outcome: refused });
    });

    test("is refused where silent holders are reset", () => {
      const lending = new Lending(pool("aws", 1));
      lending.do(take("aws-1"));
      const command = { ...reset(0), to: state };
      expect(lending.do(command)).toEqual({ events: [], outcome: refused });
    });
  },
);

describe("a holder that is no worker", () => {
  const asHolder = true as const;
  const leased = [
    ["by name", [take("aws-1")], (state: string) => releaseHeld({ state, asHolder })],
    ["by token", [acquire("t", "aws")], (state: string) => release("t", { state, asHolder })],
  ] as const;
  const own = { onRelease: "wiped", onExpire: "checked" };

  test.each(leased)("releases %s only into states that the pool uses", (_, before, to) => {
    const lending = new Lending(pool("aws", 1, own));
    for (const each of before) lending.do(each);
    for (const state of ["mine", "__proto__", "quarantined", "toBeDeleted"]) {
      const allowed = ["free", "dirty", "wiped", "checked"];
      const refusal = { code: "state_not_allowed", pool: "aws", state, allowed };
      expect(lending.do(to(state))).toEqual({ events: [], outcome: { type: "refused", refusal } });
    }
  });

  test.each(leased)("releases %s into those states", (_, before, to) => {
    for (const state of ["free", "dirty", "wiped", "checked"]) {
      const lending = new Lending(pool("aws", 1, own));
      for (const each of before) lending.do(each);
      expect(lending.outcome(to(state))).toEqual({ type: "done" });
    }
    const listed = new Lending(pool("aws", 1, { states: ["free", "broken"] }));
    for (const each of before) listed.do(each);
    expect(listed.outcome(to("dirty"))).toMatchObject({ type: "refused" });
    expect(listed.outcome(to("broken"))).toEqual({ type: "done" });
  });

  test("does not get in the way of a cleaner, who releases into any state", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(change("aws-1", { state: "dirty" }));
    const item = { pool: "aws" as PoolName, count: 1, state: "dirty", into: "cleaning" };
    const ask = { holder: "cleaner", items: [item] };
    lending.do({ type: "acquire", id: "c" as RequestId, ask, waitMs: 0 });
    expect(lending.outcome(release("c", { state: "mine", asHolder }))).toEqual({ type: "done" });
  });
});

describe("a pool that lists its states", () => {
  const states = { states: ["free", "dirty", "leased"] };
  const wrong = { code: "state_not_allowed", pool: "aws", state: "used", allowed: states.states };
  const refused = { events: [], outcome: { type: "refused", refusal: wrong } };
  const item = { pool: "aws" as PoolName, count: 1, into: "used" };
  const ask = { holder: "prow", items: [item], ttlMs: null, byName: true as const };
  const askFor: Command = { type: "acquire", id: "a" as RequestId, ask, waitMs: 0 };

  test.each<[string, readonly Command[], Command]>([
    ["a release by name", [take("aws-1")], releaseHeld({ state: "used" })],
    ["a release", [acquire("t", "aws")], release("t", { state: "used" })],
    ["the release of a claim", [acquire("t", "aws")], release("t", { claim: "1", state: "used" })],
    ["a reset", [take("aws-1")], { ...reset(0), to: "used" }],
    ["a lease by name", [], take("aws-1", "used")],
    ["a request", [], askFor],
    ["an operator", [], change("aws-1", { state: "used" })],
  ])("refuses another one in %s", (_, before, command) => {
    const lending = new Lending(pool("aws", 1, states));
    for (const each of before) lending.do(each);
    expect(lending.do(command)).toEqual(refused);
    expect(new Lending(pool("aws", 1)).do(askFor).outcome.type).toBe("granted");
  });

  test("allows the listed ones, and those of the broker and of cleaners", () => {
    const lending = new Lending(pool("aws", 3, states));
    for (const [id, into] of Object.entries({ a: "busy", b: "leased", c: "cleaning" })) {
      const resource = { a: "aws-1", b: "aws-2", c: "aws-3" }[id] ?? "";
      expect(lending.outcome(take(resource, into, id))).toMatchObject({ type: "taken" });
    }
    expect(lending.outcome(releaseHeld({ state: "dirty" }))).toEqual({ type: "done" });
    expect(lending.outcome(change("aws-1", { state: "quarantined" }))).toEqual({ type: "done" });
  });
});

test("a lease by name ends with its hold, because its holder would not release it", () => {
  const lending = new Lending(pool("aws", 1, { holdMs: 1_000 }));
  const item = { pool: "aws" as PoolName, count: 1, into: "leased" };
  const ask = { holder: "prow", items: [item], ttlMs: null, byName: true as const };
  lending.do({ type: "acquire", id: "a" as RequestId, ask, waitMs: 0 });
  runTo(lending, 1_000);
  expect(lending.state.leases.size).toBe(0);
  expect(lending.resource("aws-1").state).toBe("free");
});
