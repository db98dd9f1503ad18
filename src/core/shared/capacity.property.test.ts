/** Runs random commands on shared pools and checks the invariants. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import { Ledger } from "../../../sim/ledger.ts";
import { stateDifference } from "../../../sim/state-difference.ts";
import { apply } from "../apply/apply.ts";
import { emptyState } from "../apply/create.ts";
import { decide } from "../decide/decide.ts";
import { change, Lending, leave, pool, release, renew } from "../decide/lending.suite.ts";
import { fits } from "../decide/settle.ts";
import type { Command } from "../model/command.ts";
import { type DurableEvent, isDurable } from "../model/event.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import type { PoolPolicy, PoolSpec } from "../model/policy.ts";
import { strategies } from "../model/strategies.ts";
import type { Instant } from "../model/time.ts";
import { capacityPool, type MemberText, want } from "./capacity.suite.ts";

const networks = ["n1", "n2", "n3"];
const member: fc.Arbitrary<MemberText> = fc.record(
  {
    capacity: fc.record({ vcpus: fc.nat(12), memory: fc.nat(12) }),
    labels: fc.record({ vcenter: fc.constantFrom("a", "b") }),
    overcommit: fc.constantFrom({ vcpus: "1.5" }, {}),
    parts: fc.subarray(networks).map((names) => ({ networks: names })),
    taints: fc.constantFrom([], [{ key: "old", effect: "PreferNoSchedule" as const }]),
    excluded: fc.constant(true as const),
  },
  { requiredKeys: ["capacity", "labels", "parts"] },
);

const spaced: Partial<PoolPolicy> = { pace: { everyMs: 700, burst: 2, jitter: 0.5 } };
const under: Partial<PoolPolicy> = { parent: "account" as PoolName };

const file: fc.Arbitrary<PoolSpec[]> = fc
  .record({
    members: fc.array(member, { minLength: 1, maxLength: 4 }),
    strategy: fc.constantFrom(...strategies),
    patienceMs: fc.constantFrom(0, 1_000, 20_000),
    whole: fc.integer({ min: 1, max: 2 }),
    flow: fc.constantFrom<Partial<PoolPolicy>>({}, spaced, under, { ...spaced, ...under }),
    limit: fc.integer({ min: 1, max: 6 }),
  })
  .map(({ members, strategy, patienceMs, whole, flow, limit }) => [
    pool("account", [], { limit }),
    capacityPool(Object.fromEntries(members.map((text, index) => [`m${index}`, text])), {
      patienceMs,
      ttlMs: 3_000,
      ...flow,
      placement: {
        strategy,
        parts: { networks: { apart: "vlan", members: { n1: { vlan: "1" }, n2: { vlan: "1" } } } },
      },
    }),
    pool("aws", whole, { patienceMs, ttlMs: 3_000, ...(flow.parent && under) }),
  ]);

const item = fc.record(
  {
    amount: fc.record(
      { vcpus: fc.nat(8), memory: fc.nat(8), networks: fc.nat(2) },
      { requiredKeys: [] },
    ),
    count: fc.integer({ min: 1, max: 2 }),
    spread: fc.constant("vcenter"),
    atMost: fc.constant({ vcenter: 1 }),
    selector: fc.constant({ vcenter: "a" }),
    resource: fc.constantFrom("m0", "m1"),
  },
  { requiredKeys: ["amount"] },
);
const whole = fc.constant({ pool: "aws" as never });

const id = fc.nat(20).map((number) => `r${number}`);
type Make = (fresh: string) => Command;

const commands: fc.Arbitrary<Make> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record(
        {
          items: fc.array(
            fc.oneof({ weight: 4, arbitrary: item }, { weight: 1, arbitrary: whole }),
            {
              minLength: 1,
              maxLength: 2,
            },
          ),
          priority: fc.constantFrom(0, 1),
          group: fc.record({
            name: fc.constantFrom("g", "h"),
            size: fc.integer({ min: 1, max: 2 }),
          }),
        },
        { requiredKeys: ["items"] },
      )
      .map(
        ({ items, ...options }): Make =>
          (fresh) =>
            want(fresh, items, options),
      ),
  },
  {
    weight: 4,
    arbitrary: id.map(
      (name): Make =>
        () =>
          release(name),
    ),
  },
  {
    weight: 2,
    arbitrary: id.map(
      (name): Make =>
        () =>
          release(name, { claim: "1" }),
    ),
  },
  {
    weight: 3,
    arbitrary: id.map(
      (name): Make =>
        () =>
          renew(name),
    ),
  },
  {
    weight: 1,
    arbitrary: id.map(
      (name): Make =>
        () =>
          leave(name),
    ),
  },
  {
    weight: 1,
    arbitrary: file.map(
      (pools): Make =>
        () => ({ type: "configure", pools }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom("m0", "m1", "m2"), fc.boolean()).map(
      ([name, drained]): Make =>
        () =>
          change(name, { drained }),
    ),
  },
);

const day = fc.tuple(
  file,
  fc.array(fc.tuple(fc.constantFrom(0, 0, 200, 1_100, 2_500), commands), {
    maxLength: 50,
    size: "max",
  }),
);

test("usage is the sum of claims, nothing is over capacity, and it replays, after any history", () => {
  fc.assert(
    fc.property(day, ([pools, steps]) => {
      const state = emptyState();
      const ledger = new Ledger();
      const told: { at: Instant; event: DurableEvent }[] = [];
      let [now, fresh] = [0 as Instant, 0];
      const act = (command: Command) => {
        for (const event of decide(state, command, now).events) {
          if (!isDurable(event)) continue;
          told.push({ at: now, event: structuredClone(event) });
          ledger.record(event, now);
        }
        checkState(state, now);
        for (const request of state.requests.values()) {
          if (!request.inLine) continue;
          expect(fits(request.needs, request, now), `${request.id} could go`).toBe(false);
        }
      };
      act({ type: "configure", pools });
      for (const [waitMs, make] of steps) {
        now = (now + waitMs) as Instant;
        act({ type: "tick" });
        act(make(`r${fresh++}`));
      }
      checkSnapshot(state);
      const replayed = emptyState();
      for (const { at, event } of JSON.parse(JSON.stringify(told))) apply(replayed, event, at);
      expect(stateDifference(replayed, state)).toBeUndefined();
    }),
    { numRuns: 400 },
  );
}, 120_000);

describe("a big request behind an endless stream of small ones", () => {
  const patienceMs = 1_000;
  const holdMsMax = 300;
  const stepMs = 10;
  const stream = fc.record({
    capacities: fc.array(fc.integer({ min: 4, max: 12 }), { minLength: 1, maxLength: 3 }),
    small: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 8 }),
    holds: fc.array(fc.integer({ min: stepMs, max: holdMsMax }), { minLength: 3, maxLength: 8 }),
    bigs: fc.array(
      fc.record({
        count: fc.integer({ min: 1, max: 3 }),
        share: fc.integer({ min: 50, max: 100 }),
        apartMs: fc.nat(20).map((steps) => steps * stepMs),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    strategy: fc.constantFrom(...strategies),
  });

  /**
   * The bound of `reserve.ts`: its patience, one hold of the leases at that time, and one more for
   * each impatient request ahead.
   */
  test("is granted within its patience and one hold more than are big before it", () => {
    fc.assert(
      fc.property(stream, ({ capacities, small, holds, bigs, strategy }) => {
        const members = capacities.map((vcpus, index) => [`m${index}`, { capacity: { vcpus } }]);
        const lending = new Lending(
          capacityPool(Object.fromEntries(members), {
            patienceMs,
            ttlMs: 3_600_000,
            placement: { strategy },
          }),
        );
        const backAt = new Map<string, number>();
        let number = 0;
        const pass = () => {
          lending.tickAt(lending.now + stepMs);
          for (const [one, at] of backAt) {
            if (at > lending.now) continue;
            lending.do(release(one));
            backAt.delete(one);
          }
          for (let more = 0; more < 4; more++) {
            const vcpus = small[number % small.length] ?? 1;
            lending.do(want(`s${number++}`, { amount: { vcpus } }, { nowOnly: true }));
          }
          for (const one of lending.state.leases.keys()) {
            const holdMs = holds[number % holds.length] ?? stepMs;
            if (!backAt.has(one)) backAt.set(one, lending.now + holdMs);
          }
        };
        for (let step = 0; step < 40; step++) pass();
        const limits = new Map<string, number>();
        for (const [before, { count, share, apartMs }] of bigs.entries()) {
          const sorted = capacities.toSorted((a, b) => b - a).slice(0, count);
          const vcpus = Math.max(1, Math.floor(((sorted.at(-1) ?? 1) * share) / 100));
          const name = `big${before}`;
          lending.do(want(name, { count: sorted.length, amount: { vcpus } }));
          const holdsMs = (before + 1) * (holdMsMax + 2 * stepMs);
          if (lending.held(name) === undefined) {
            limits.set(name, lending.now + patienceMs + holdsMs);
          }
          for (let passed = 0; passed < apartMs; passed += stepMs) pass();
        }
        const isWaiting = (name: string) => lending.state.requests.has(name as RequestId);
        while ([...limits.keys()].some(isWaiting)) {
          for (const [name, limit] of limits) {
            if (!isWaiting(name)) limits.delete(name);
            else expect(lending.now, `${name} starves`).toBeLessThanOrEqual(limit);
          }
          pass();
        }
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
