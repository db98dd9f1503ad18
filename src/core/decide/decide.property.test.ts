/** Runs random commands on the core and checks the invariants after every command. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import { Ledger } from "../../../sim/ledger.ts";
import { stateDifference } from "../../../sim/state-difference.ts";
import { apply } from "../apply/apply.ts";
import { emptyState } from "../apply/create.ts";
import type { Command } from "../model/command.ts";
import { type DurableEvent, isDurable } from "../model/event.ts";
import type { PoolName } from "../model/ids.ts";
import type { PoolSpec } from "../model/policy.ts";
import { exclusiveClaim, type State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { decide } from "./decide.ts";
import { acquire, change, leave, poll, pool, release, renew, revoke } from "./lending.suite.ts";
import { fits } from "./settle.ts";

const pace = fc.record({
  everyMs: fc.constantFrom(300, 1_000, "auto" as const),
  burst: fc.constantFrom(1, 2),
  jitter: fc.constantFrom(0, 0.5),
});

const policy = fc
  .record({
    ttlMs: fc.constantFrom(1_000, 3_000),
    lifetimeMs: fc.constantFrom(null, 4_000),
    holdMs: fc.constantFrom(null, null, 1_500),
    cooldownMs: fc.constantFrom(0, 0, 500),
    lockDelayMs: fc.constantFrom(0, 800),
    patienceMs: fc.constantFrom(0, 1_000, 10_000),
    onRelease: fc.constantFrom("free", "free", "dirty"),
    onExpire: fc.constantFrom("free", "quarantined"),
    pace: fc.option(pace),
  })
  .map(({ pace: some, ...rest }) => (some === null ? rest : { ...rest, pace: some }));

/** Resource names are shared between pools, so that editing the file moves them. */
const file = fc
  .tuple(
    fc.array(fc.constantFrom("aws", "gcp", "none"), { minLength: 6, maxLength: 6 }),
    policy,
    policy,
    fc.constantFrom(undefined, undefined, 1, 2, 4),
    fc.constantFrom("account", "account", "aws"),
    fc.option(pace),
  )
  .map(([places, aws, gcp, limit, above, shared]): PoolSpec[] => {
    const members = (name: string) =>
      places.flatMap((place, index) => (place === name ? [`m${index}`] : []));
    const parent = (name: string) => (limit === undefined ? {} : { parent: name as PoolName });
    const pools = [
      pool("aws", members("aws"), { ...aws, ...parent("account") }),
      pool("gcp", members("gcp"), { ...gcp, ...parent(above) }),
    ];
    const account =
      limit === undefined ? [] : [pool("account", [], { limit, ...(shared && { pace: shared }) })];
    return [...pools.filter(({ members: { length } }) => length > 0), ...account];
  });

const id = fc.nat(15).map((number) => `r${number}`);
const resource = fc.nat(5).map((number) => `m${number}`);
const wanted = fc.constantFrom(
  "aws",
  "aws",
  "gcp",
  "aws:2",
  "aws gcp",
  "gcp:2 aws",
  "aws gcp aws",
  "aws|gcp",
  "gcp|aws:2",
  "aws|gcp gcp",
);

/** Lease ids are existing ones; new requests get a new id. */
type Step = { readonly waitMs: number; readonly make: (fresh: string) => Command };

const commands: fc.Arbitrary<Step["make"]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({ wanted, key: fc.option(fc.nat(5)), priority: fc.constantFrom(0, 0, 0, 1, -1) })
      .map(
        ({ wanted: what, key, priority }) =>
          (fresh: string) =>
            acquire(fresh, what, {
              priority,
              ...(key === null ? {} : { key: `k${key}`, holder: `job-${key}` }),
            }),
      ),
  },
  { weight: 4, arbitrary: id.map((name) => () => release(name)) },
  { weight: 2, arbitrary: id.map((name) => () => release(name, { claim: "1", state: "dirty" })) },
  { weight: 3, arbitrary: id.map((name) => () => renew(name)) },
  { weight: 1, arbitrary: id.map((name) => () => leave(name)) },
  { weight: 1, arbitrary: id.map((name) => () => revoke(name)) },
  { weight: 2, arbitrary: id.map((name) => () => poll(name, 500)) },
  { weight: 1, arbitrary: file.map((pools) => (): Command => ({ type: "configure", pools })) },
  { weight: 1, arbitrary: fc.constant((): Command => ({ type: "give-grace" })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        resource,
        fc.constantFrom(
          { drained: true },
          { drained: false },
          { state: "free" },
          { state: "dirty" },
          { labels: { a: "b" } },
        ),
      )
      .map(
        ([name, wish]) =>
          () =>
            change(name, wish),
      ),
  },
);

const step: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.constantFrom(0, 0, 100, 700, 2_500),
  make: commands,
});
/** `max`, because otherwise few runs have more than ten steps. */
const day = fc.tuple(file, fc.array(step, { maxLength: 80, size: "max" }));

/** The events and their times, as in the journal. */
interface Told {
  readonly at: Instant;
  readonly event: DurableEvent;
}

type Check = (state: State, now: Instant, told: readonly Told[]) => void;

/** Runs the commands as the broker does: due deadlines first, then the command. */
function live([pools, steps]: readonly [PoolSpec[], readonly Step[]], check: Check): void {
  const state = emptyState();
  const told: Told[] = [];
  let now = 0 as Instant;
  let fresh = 0;
  const act = (command: Command): void => {
    for (const event of decide(state, command, now).events) {
      if (isDurable(event)) told.push({ at: now, event: structuredClone(event) });
    }
    check(state, now, told);
  };
  act({ type: "configure", pools });
  for (const { waitMs, make } of steps) {
    now = (now + waitMs) as Instant;
    act({ type: "tick" });
    act(make(`r${fresh++}`));
  }
}

function always(check: () => Check, numRuns = 300): void {
  fc.assert(
    fc.property(day, (input) => live(input, check())),
    { numRuns },
  );
}

describe("decide() over random days", () => {
  test("keeps every index, holder and deadline in order", () => {
    always(() => (state, now) => checkState(state, now));
  });

  /**
   * The ledger checks: one holder, all items or none, growing fences, one lease per key, no
   * overtaking.
   */
  test("writes only what a simple-minded ledger accepts", () => {
    always(() => {
      const ledger = new Ledger();
      let seen = 0;
      return (state, _now, told) => {
        for (const { at, event } of told.slice(seen)) ledger.record(event, at);
        seen = told.length;
        expect([...ledger.leases.keys()].sort()).toEqual([...state.leases.keys()].sort());
        expect([...ledger.waiting.keys()].sort()).toEqual([...state.requests.keys()].sort());
        for (const [name, thing] of ledger.things) {
          const known = state.resources.get(name as never);
          expect(exclusiveClaim(known)?.lease.id ?? null).toBe(thing.heldBy);
          expect(known?.state).toBe(thing.state);
        }
      };
    });
  });

  test("leaves no request waiting that could be granted", () => {
    always(() => (state, now) => {
      for (const request of state.requests.values()) {
        const ways = request.alternatives.filter((needs) => fits(needs, request, now));
        expect(ways, `${request.id} could go`).toEqual([]);
      }
    });
  });

  test("ends every lease and every request by itself, once all have fallen silent", () => {
    fc.assert(
      fc.property(day, (input) => {
        let last: State | undefined;
        live(input, (state) => {
          last = state;
        });
        if (last === undefined) return;
        for (let now = 1_000_000; last.due.size > 0; now += 1_000_000) {
          expect(now).toBeLessThan(1_000_000_000);
          decide(last, { type: "tick" }, now as Instant);
        }
        expect([last.leases.size, last.requests.size]).toEqual([0, 0]);
      }),
      { numRuns: 200 },
    );
  });

  test("writes a journal that replays to the state in use, and snapshots that thaw to it", () => {
    fc.assert(
      fc.property(day, (input) => {
        let [live_, told]: [State | undefined, readonly Told[]] = [undefined, []];
        live(input, (state, _now, soFar) => {
          [live_, told] = [state, soFar];
        });
        const replayed = emptyState();
        for (const { at, event } of JSON.parse(JSON.stringify(told))) apply(replayed, event, at);
        if (live_ === undefined) return;
        expect(stateDifference(replayed, live_)).toBeUndefined();
        checkSnapshot(live_);
      }),
      { numRuns: 200 },
    );
  });
});
