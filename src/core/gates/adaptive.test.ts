import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import { acquire, Lending, poll, pool, release, runTo } from "../decide/lending.suite.ts";
import { poolView } from "../explain/pool-view.ts";
import type { Command } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { type AdaptivePolicy, defaultAdaptive } from "../model/policy.ts";
import type { Instant } from "../model/time.ts";
import { every, pin, poolIn, signal } from "./gates.suite.ts";
import { intervalMs } from "./pace.ts";

const minute = 60_000;
const { pace } = every(30_000);
const adaptive = (more: Partial<AdaptivePolicy> = {}, size = 99) =>
  pool("aws", size, {
    ttlMs: 900 * minute,
    pace,
    adaptive: { ...defaultAdaptive, min: 0.5, max: 4, ...more },
  });
const advising = { ...defaultAdaptive, mode: "advise" as const };
const aws = (lending: Lending) => poolIn(lending.state, "aws");
const rate = (lending: Lending) => aws(lending).adaptive?.rate;

/** Queues `asks` requests at once, then runs every tick up to `end`. */
function run(lending: Lending, end: number, asks = 0): void {
  for (let index = 0; index < asks; index++) lending.do(acquire(`j${index}`, "aws"));
  runTo(lending, end);
}

function busy(more: Partial<AdaptivePolicy> = {}): Lending {
  const lending = new Lending(adaptive(more));
  run(lending, 0, 90);
  return lending;
}

describe("adaptive: a report of throttling", () => {
  test("lowers the rate by the factor, and says why", () => {
    const lending = busy();
    const { events } = lending.do(signal("j0", { evidence: "Rate exceeded" }));
    expect(events).toEqual([
      { type: "pool-signalled", pool: "aws", id: "j0", throttled: true, evidence: "Rate exceeded" },
      {
        type: "rate-changed",
        pool: "aws",
        rate: 1.4,
        cause: { how: "throttled", lease: "j0", why: "Rate exceeded" },
      },
    ]);
    expect(intervalMs(aws(lending))).toBe(42_858);
  });

  test("lowers it once in five minutes, however many there are", () => {
    const lending = busy();
    lending.outcome(signal("j0"), signal("j0"));
    run(lending, 5 * minute - 1);
    lending.do(signal("j0"));
    expect(rate(lending)).toBe(1.4);
    run(lending, 5 * minute);
    lending.do(signal("j0"));
    expect(rate(lending)).toBe(0.98);
  });

  test("never lowers it below the floor", () => {
    const lending = busy({ min: 1.9 });
    lending.do(signal("j0"));
    expect(rate(lending)).toBe(1.9);
  });

  test.each([
    ["that all is well", { throttled: false }],
    ["to a pool that is off", { mode: "off" as const }],
  ])("does nothing when it is %s", (_, how) => {
    const lending = "mode" in how ? busy(how) : busy();
    const { events } = lending.do(signal("j0", "throttled" in how ? how : {}));
    expect(events.map(({ type }) => type)).toEqual(["pool-signalled"]);
    expect(intervalMs(aws(lending))).toBe(30_000);
  });

  test("only advises where that is wished", () => {
    const lending = busy({ mode: "advise" });
    const { events } = lending.do(signal("j0"));
    expect(events.at(-1)).toMatchObject({ type: "rate-changed", rate: 1.4, advised: true });
    expect(intervalMs(aws(lending))).toBe(30_000);
  });

  test("can come with the release", () => {
    const lending = busy();
    lending.do({ ...release("j0"), outcome: { throttled: true } } as Command);
    expect(rate(lending)).toBe(1.4);
    expect(lending.held("j0")).toBeUndefined();
  });

  test("is refused for a pool that the lease has nothing of", () => {
    const lending = new Lending(adaptive(), pool("gcp", 1));
    lending.do(acquire("a", "aws"));
    expect(lending.outcome(signal("a", { pool: "gcp" as PoolName }))).toMatchObject({
      refusal: { code: "pool_not_in_lease", pool: "gcp" },
    });
    expect(lending.outcome(signal("nobody"))).toMatchObject({
      refusal: { code: "lease_not_found" },
    });
  });
});

describe("adaptive: the reason of a wait says", () => {
  const reason = (lending: Lending) => {
    const outcome = lending.outcome(poll("j9"));
    return outcome.type === "waiting" ? outcome.request.reason : undefined;
  };

  test("that it is paced, and from a report on the interval that the pool shows", () => {
    const lending = busy();
    expect(reason(lending)?.code).toBe("paced");
    lending.do(signal("j0"));
    // The next grant is still due by the old interval.
    expect(reason(lending)?.message).toMatch(
      /one every 43s instead of every 30s .*, the next in 30s;/,
    );
    expect(poolView(aws(lending), lending.now).flow.everyMs).toBe(42_858);
    run(lending, minute / 2);
    expect(reason(lending)).toEqual({
      code: "limit_reduced",
      pool: "aws",
      message:
        "97 of 99 aws free, paced: one every 43s instead of every 30s since it was throttled, " +
        "the next in 43s; 7 ahead",
    });
  });

  test.each([
    ["an operator holds it lower", pin("aws", 0.5)],
    ["it would only be advised", undefined],
  ])("nothing of that where %s", (_, command) => {
    const lending = busy(command === undefined ? { mode: "advise" } : {});
    if (command !== undefined) lending.do(command);
    lending.do(signal("j0"));
    run(lending, 2 * minute);
    expect(reason(lending)?.code).toBe("paced");
  });
});

describe("adaptive: the rate rises", () => {
  test("a step after ten minutes without a report in which it was used up", () => {
    const lending = busy();
    run(lending, 10 * minute - 1);
    expect(rate(lending)).toBe(2);
    run(lending, 20 * minute);
    expect(rate(lending)).toBe(2.2);
    expect(aws(lending).rateHistory.at(-1)).toMatchObject({ was: 2.1, cause: { how: "clean" } });
  });

  test("not while others than the rate hold the starts back", () => {
    const lending = new Lending(adaptive({}, 3));
    run(lending, 30 * minute, 90);
    expect(rate(lending)).toBe(2);
  });

  test("not before ten minutes have passed since the last report", () => {
    const lending = busy();
    run(lending, 9 * minute);
    lending.do(signal("j0"));
    run(lending, 19 * minute - 1);
    expect(rate(lending)).toBe(1.4);
    run(lending, 19 * minute);
    expect(rate(lending)).toBe(1.5);
  });

  test("never above the ceiling", () => {
    const lending = busy({ max: 2.15 });
    run(lending, 40 * minute);
    expect(rate(lending)).toBe(2.15);
  });
});

describe("adaptive: an operator", () => {
  test("fixes the rate at once, and reports do not change it", () => {
    const lending = busy();
    lending.do(pin("aws", 6));
    run(lending, minute);
    expect(lending.state.leases.size).toBe(7);
    lending.do(signal("j0"));
    expect(intervalMs(aws(lending))).toBe(10_000);
    expect(aws(lending).pin).toMatchObject({ rate: 6, by: "ann", why: "test" });
  });

  test("lets it go again, from there and within the bounds", () => {
    const lending = busy();
    lending.outcome(pin("aws", 6), pin("aws", null));
    expect(rate(lending)).toBe(4);
    expect(aws(lending).rateHistory.map(({ cause }) => cause.how)).toEqual([
      "configured",
      "pinned",
      "unpinned",
    ]);
  });

  test.each([
    ["a pace", { pace }, 2, 30_000],
    ["a rate that is only advised", { pace, adaptive: advising }, 2, 30_000],
    ["a rate that is off", { pace, adaptive: { ...advising, mode: "off" as const } }, 2, 30_000],
    ["an advised rate and no pace", { adaptive: advising }, null, 0],
    ["nothing", {}, null, 0],
  ])("leaves a pool that has %s to that, from the last grant on", (_, policy, want, everyMs) => {
    const lending = new Lending(pool("aws", 9, policy));
    lending.outcome(acquire("a", "aws"), pin("aws", 0.1), pin("aws", null));
    expect(aws(lending).rateHistory.at(-1)).toMatchObject({
      rate: want,
      was: 0.1,
      cause: { how: "unpinned" },
    });
    expect(intervalMs(aws(lending))).toBe(everyMs);
    lending.do(acquire("b", "aws"));
    lending.tickAt(everyMs);
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("can pin a pool that has no pace of its own", () => {
    const lending = new Lending(pool("aws", 9));
    lending.do(pin("aws", 1));
    run(lending, minute, 9);
    expect(lending.state.leases.size).toBe(2);
    lending.do(pin("aws", null));
    expect(lending.state.leases.size).toBe(9);
  });
});

test("adaptive: the state is the same from a snapshot, and a new file brings it into bounds", () => {
  const lending = busy();
  run(lending, 25 * minute);
  lending.do(signal("j0"));
  const frozen = freeze(lending.state);
  expect(freeze(thaw(JSON.parse(JSON.stringify(frozen))))).toEqual(frozen);
  lending.configure(adaptive({ min: 3 }));
  expect(rate(lending)).toBe(3);
  lending.configure(adaptive({ mode: "off" }));
  expect(aws(lending).adaptive).toBeNull();
});

test("adaptive: a start at the instant at which a window begins counts in none", () => {
  const lending = new Lending(adaptive({ raiseAfterMs: minute }));
  lending.do(acquire("a", "aws"));
  expect(aws(lending).adaptive).toMatchObject({ windowAt: 0, starts: 0 });
  lending.now = (minute + 1) as Instant;
  lending.do(acquire("b", "aws"));
  expect(aws(lending).adaptive).toMatchObject({ windowAt: minute, starts: 1 });
});

test("adaptive: a report that all went well does not begin a window", () => {
  const lending = new Lending(adaptive());
  lending.do(acquire("a", "aws"));
  lending.now = minute as Instant;
  lending.do(signal("a", { throttled: false }));
  expect(aws(lending)).toMatchObject({ adaptive: { windowAt: 0 }, signals: { ok: 1 } });
  lending.do(signal("a"));
  expect(aws(lending)).toMatchObject({ adaptive: { windowAt: minute }, signals: { throttled: 1 } });
});

test("adaptive: the last hundred changes of a rate are remembered", () => {
  const lending = new Lending(pool("aws", 1));
  for (let turn = 1; turn <= 103; turn++) lending.do(pin("aws", turn));
  expect(aws(lending).rateHistory.map((change) => change.rate)).toEqual(
    Array.from({ length: 100 }, (_, index) => index + 4),
  );
});
