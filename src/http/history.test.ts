import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type {
  EstimateAccuracy,
  HistoryEntry,
  PoolStats,
  SimulatedVariants,
  Simulation,
  Stats,
} from "../api/history-schemas.ts";
import type { PageOf, WaitingRequest } from "../api/schemas.ts";
import { acquire, clean, pool, release } from "../core/decide/lending.suite.ts";
import type { PoolName } from "../core/model/ids.ts";
import { capacityPool, want } from "../core/shared/capacity.suite.ts";
import { askBody, asProblem, asRequest, type TestSite, testSite } from "./test-site.suite.ts";

let site: TestSite;

beforeEach(async () => {
  site = await testSite([pool("aws", 1), pool("gcp", 2)]);
});
afterEach(() => site[Symbol.asyncDispose]());

/** Holds `name` for so long; whoever waits for it does so meanwhile. */
async function hold(id: string, name: string, holdMs: number): Promise<void> {
  await site.broker.submit(acquire(id, name));
  await site.clock.advance(holdMs);
  await site.broker.submit(release(id));
}

const page = async (query = "") =>
  (await site.call(`GET /v1/history${query}`)).body as PageOf<HistoryEntry>;
const ids = async (query = "") => (await page(query)).items.map(({ id }) => id);

describe("GET /v1/history", () => {
  test("tells of what has just ended, with its times", async () => {
    await hold("a", "aws", 90_000);
    const { items, next } = await page();
    expect(next).toBeNull();
    expect(items).toEqual([
      {
        ...{ id: "a", claim: "1", holder: "job-a", space: "default", pool: "aws", count: 1 },
        ...{ purpose: "use", amount: null },
        ...{ resource: "aws-1", priority: 0, how: "released", waitSeconds: 0, holdSeconds: 90 },
        waitedFor: null,
        askedAt: "2023-11-14T22:13:20.000Z",
        grantedAt: "2023-11-14T22:13:20.000Z",
        endedAt: "2023-11-14T22:14:50.000Z",
      },
    ]);
  });

  test("finds a part of a word in the holder, the pool, the resource or the space", async () => {
    await hold("a", "aws", 1_000);
    await hold("b", "gcp", 1_000);
    expect(await ids("?text=JOB-A")).toEqual(["a"]);
    expect(await ids("?text=cp-1")).toEqual(["b"]);
    expect(await ids("?text=defau")).toEqual(["b", "a"]);
    expect(await ids("?text=%25")).toEqual([]); // No pattern, but a text.
  });

  test("filters and pages, the latest first", async () => {
    await hold("a", "aws", 60_000);
    await hold("b", "gcp", 60_000);
    await hold("c", "aws", 60_000);
    expect(await ids()).toEqual(["c", "b", "a"]);
    expect(await ids("?pool=aws")).toEqual(["c", "a"]);
    expect(await ids("?holder=job-b")).toEqual(["b"]);
    expect(await ids("?resource=gcp-1")).toEqual(["b"]);
    expect(await ids("?id=a")).toEqual(["a"]);
    expect(await ids("?how=expired")).toEqual([]);
    expect(await ids("?since=90s")).toEqual(["c", "b"]);
    expect(await ids("?until=2023-11-14T22:14:21Z")).toEqual(["a"]);
    const first = await page("?limit=2");
    expect(first.items.map(({ id }) => id)).toEqual(["c", "b"]);
    expect(await ids(`?limit=2&after=${first.next}`)).toEqual(["a"]);
  });

  test("lists cleanings only if they are asked for, or by their id", async () => {
    const dirty = pool("aws", 1, { onRelease: "dirty" });
    await site.broker.submit({ type: "configure", pools: [dirty, pool("gcp", 2)] });
    await hold("job", "aws", 60_000);
    await site.broker.submit(clean("cleaning"));
    await site.clock.advance(10_000);
    await site.broker.submit(release("cleaning"));
    expect(await ids()).toEqual(["job"]);
    expect(await ids("?purpose=clean")).toEqual(["cleaning"]);
    expect(await ids("?purpose=all")).toEqual(["cleaning", "job"]);
    expect((await page("?id=cleaning")).items).toMatchObject([
      { purpose: "clean", how: "cleaned", holdSeconds: 10 },
    ]);
    await site.clock.advance(1);
    const stats = (await site.call("GET /v1/stats?pool=aws")).body as Stats;
    expect(stats.total).toMatchObject({
      ...{ asked: 1, ended: 1, holdSeconds: { max: 60 } },
      upkeep: { cleaned: 1, failed: 0, cleaningSeconds: { p50: 10 } },
    });
  });

  test.each([
    ["?since=yesterday", "query.since"],
    ["?until=2023-13-45", "query.until"],
    ["?until=2026-02-30", "query.until"],
    ["?since=2025-02-29T12:00:00Z", "query.since"],
    ["?how=foo", "query.how"],
    ["?how=expired,relaesed", "query.how"],
    ["?limit=0", "query.limit"],
    ["?after=x", "query.after"],
    ["?pol=aws", "query"],
  ])("says what is wrong with %s", async (query, place) => {
    const answer = await site.call(`GET /v1/history${query}`);
    expect(answer.status).toBe(400);
    expect(asProblem(answer).detail).toContain(place);
  });

  test("lists the known ends, or the nearest one, for an end that does not exist", async () => {
    const hintOf = async (how: string) =>
      asProblem(await site.call(`GET /v1/history?how=${how}`)).hint;
    expect(await hintOf("foo")).toMatch(/^Use one of cancelled, .*released, expired, .*hibernated/);
    expect(await hintOf("relaesed")).toBe('Did you mean "released"?');
    expect(await ids("?how=expired,hold,free&purpose=all")).toEqual([]);
  });
});

describe("GET /v1/stats", () => {
  const stats = async (query: string) => (await site.call(`GET /v1/stats${query}`)).body as Stats;

  test("adds up over a window and in steps", async () => {
    await hold("a", "aws", 60_000);
    await site.clock.advance(60_000);
    await hold("b", "aws", 60_000);
    const found = await stats("?pool=aws&window=3m&step=1m");
    expect(found).toMatchObject({ pool: "aws", stepSeconds: 60, total: { ended: 1, granted: 2 } });
    expect(found.steps.map(({ utilisation }) => utilisation)).toEqual([1, 0, 1]);
    const whole = await stats("?window=3m");
    expect(whole).toMatchObject({ pool: null, total: { utilisation: 2 / 9 } });
    expect(whole.total.holdSeconds).toMatchObject({ p50: 60, p99: 60 });
  });

  test("has the claims of the pools below a limit, as use of the limit of that time", async () => {
    const child = pool("child", 4, { parent: "shared" as PoolName });
    const configure = (limit: number) =>
      site.broker.submit({ type: "configure", pools: [pool("shared", 0, { limit }), child] });
    await configure(4);
    await site.broker.submit(acquire("a", "child"));
    await site.broker.submit(acquire("b", "child"));
    await site.clock.advance(60_000);
    await configure(2);
    await site.clock.advance(60_000);
    await site.broker.submit(release("b"));
    const found = await stats("?pool=shared&window=2m&step=1m");
    expect(found.steps.map(({ utilisation }) => utilisation)).toEqual([0.5, 1]);
    expect(found.total).toMatchObject({ asked: 2, granted: 2, left: 0 });
    await site.clock.advance(1);
    expect((await stats("?pool=shared&window=2m")).total.ended).toBe(1);
    expect(found.outages).toEqual([]);
  });

  test("tells the percentiles of holds and waits apart", async () => {
    for (let number = 1; number <= 10; number++) {
      await site.broker.submit(acquire(`first${number}`, "aws"));
      await site.broker.submit(acquire(`next${number}`, "aws"));
      await site.clock.advance(number * 10_000);
      await site.broker.submit(release(`first${number}`));
      await site.clock.advance(number * 1_000);
      await site.broker.submit(release(`next${number}`));
    }
    await site.clock.advance(1);
    const { total } = await stats("?pool=aws&window=1h");
    // Holds: 1 s to 10 s of the next ones, 10 s to 100 s of the first ones. Half of all wait.
    expect(total.holdSeconds).toEqual({ p50: 10, p90: 80, p99: 100, max: 100, mean: 30.25 });
    expect(total.waitSeconds).toEqual({ p50: 0, p90: 80, p99: 100, max: 100, mean: 27.5 });
  });

  test("has each pool apart, the one in which claims waited longest first", async () => {
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws"));
    await site.clock.advance(60_000);
    await site.broker.submit(release("a"));
    await site.clock.advance(60_000);
    const answer = await site.call("GET /v1/stats/pools?window=4m");
    const { pools } = answer.body as PoolStats;
    expect(pools.map(({ pool }) => pool)).toEqual(["aws", "gcp"]);
    expect(pools[0]).toMatchObject({ asked: 2, granted: 2, ended: 1, utilisation: 1 });
    expect(pools[0]?.waitSeconds).toMatchObject({ max: 60, mean: 30 });
    expect(pools[1]).toMatchObject({ asked: 0, granted: 0, utilisation: 0, waitSeconds: null });
    // As the figures of one pool.
    for (const { pool, ...part } of pools) {
      expect(part).toEqual((await stats(`?pool=${pool}&window=4m`)).total);
    }
    expect((await site.call("GET /v1/stats/pools?step=1m")).status).toBe(400);
  });

  test("a window that ends in the future ends now: nobody has waited there yet", async () => {
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws"));
    await site.clock.advance(60_000);
    const now = new Date(site.clock.now()).toISOString();
    const ahead = new Date(site.clock.now() + 3_600_000).toISOString();
    for (const path of ["/v1/stats/pools?", "/v1/stats?pool=aws&"]) {
      const [present, future] = await Promise.all([
        site.call(`GET ${path}window=5m&until=${now}`),
        site.call(`GET ${path}window=5m&until=${ahead}`),
      ]);
      expect(future.body).toEqual(present.body);
    }
  });

  test("takes no more steps than are of use, and knows its pools", async () => {
    expect((await site.call("GET /v1/stats?window=1d&step=1s")).status).toBe(400);
    expect((await site.call("GET /v1/stats?pool=asw")).status).toBe(404);
    expect((await site.call("GET /v1/stats?pool=gcp")).status).toBe(200);
  });
});

describe("estimates", () => {
  test("are unknown without history, and come with their hit rate once there is some", async () => {
    const waiting = () =>
      site.call("POST /v1/leases", { body: askBody("aws", { requestId: "me" }) });
    await site.broker.submit(acquire("first", "aws"));
    expect(asRequest(await waiting())).toMatchObject({ etaSeconds: null, estimate: null });
    await site.broker.submit(release("first"));
    const { id } = asRequest(await waiting());
    await site.broker.submit(release(id));
    for (let number = 0; number < 12; number++) {
      await hold(`h${number}`, "aws", number % 3 === 0 ? 300_000 : 100_000);
    }
    await site.call("GET /v1/history");
    await site.broker.submit(acquire("holder", "aws"));
    await site.clock.advance(30_000);
    const asked = asRequest(await site.call("POST /v1/leases", { body: askBody("aws") }));
    await site.insight.estimates.refresh();
    const [found] = ((await site.call("GET /v1/requests")).body as PageOf<typeof asked>).items;
    expect(found).toMatchObject({ id: asked.id, etaSeconds: 70 });
    expect(found?.estimate).toMatchObject({ p50Seconds: 70, p90Seconds: 270, samples: 14 });
    const askedMs = Date.parse(asked.queuedAt);
    expect(found?.estimate?.first).toEqual({
      p50At: new Date(askedMs + 70_000).toISOString(),
      p90At: new Date(askedMs + 270_000).toISOString(),
    });
    await site.clock.advance(100_000);
    await site.broker.submit(release("holder"));
    const accuracy = (await site.call("GET /v1/estimates")).body as EstimateAccuracy;
    expect(accuracy).toMatchObject({ estimated: 0, waiting: 0 });
    const one = { compared: 1, withinP50: 0, withinP90: 1, meanErrorSeconds: 30 };
    expect(accuracy.pools).toEqual([{ pool: "aws", ...one, latest: one }]);
    const { text } = await site.call("GET /metrics");
    expect(text).toContain('berth_eta_within_p50_total{pool="aws"} 0');
    expect(text).toContain('berth_eta_within_p90_total{pool="aws"} 1');
  });
});

describe("estimates of a pool with a janitor", () => {
  test("are known after enough holds, and include the cleaning", async () => {
    const dirty = pool("aws", 1, { onRelease: "dirty" });
    await site.broker.submit({ type: "configure", pools: [dirty, pool("gcp", 2)] });
    for (let number = 0; number < 12; number++) {
      await hold(`job${number}`, "aws", number % 3 === 0 ? 300_000 : 100_000);
      await site.clock.advance(5_000); // The janitor is busy elsewhere.
      await site.broker.submit(clean(`clean${number}`));
      await site.clock.advance(20_000);
      await site.broker.submit(release(`clean${number}`));
    }
    await site.call("GET /v1/history");
    await site.broker.submit(acquire("holder", "aws"));
    await site.clock.advance(30_000);
    await site.call("POST /v1/leases", { body: askBody("aws") });
    await site.insight.estimates.refresh();
    const [found] = ((await site.call("GET /v1/requests")).body as PageOf<WaitingRequest>).items;
    expect(found?.estimate).toMatchObject({
      ...{ p50Seconds: 95, p90Seconds: 295, samples: 12, exact: false },
    });
  });
});

describe("POST /v1/simulate", () => {
  const simulate = (body: object) => site.call("POST /v1/simulate", { body });

  test("answers right after the start, when no time has passed", async () => {
    expect(await simulate({})).toMatchObject({
      status: 200,
      body: {
        requests: 0,
        total: { recorded: { endedPerHour: 0 }, simulated: { endedPerHour: 0 } },
      },
    });
  });

  test("tells what another size would have done", async () => {
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws"));
    await site.clock.advance(60_000);
    await site.broker.submit(release("a"));
    await site.clock.advance(60_000);
    await site.broker.submit(release("b"));
    await site.clock.advance(1);
    const found = (await simulate({ last: "1h", set: ["aws.count=2"] })).body as Simulation;
    expect(found).toMatchObject({ requests: 2, refused: 0 });
    expect(found.pools).toMatchObject([
      {
        pool: "aws",
        recorded: { waitSeconds: { max: 60 }, ended: 2 },
        simulated: { waitSeconds: { max: 0 }, ended: 2 },
      },
    ]);
    expect(found.unknowns.length).toBeGreaterThan(3);
  });

  test("replays a shared pool with its amounts, also with another strategy", async () => {
    const machines = { m: { capacity: { vcpus: 10 } }, n: { capacity: { vcpus: 10 } } };
    await site.broker.submit({ type: "configure", pools: [capacityPool(machines)] });
    await site.broker.submit(want("a", { amount: { vcpus: 4 } }));
    await site.broker.submit(want("b", { amount: { vcpus: 4 } }));
    await site.broker.submit(want("big", { amount: { vcpus: 10 } }));
    await site.clock.advance(60_000);
    for (const id of ["a", "b"]) await site.broker.submit(release(id));
    await site.clock.advance(60_000);
    await site.broker.submit(release("big"));
    await site.clock.advance(1);
    const { items } = await page("?id=big");
    expect(items).toMatchObject([{ pool: "vsphere", amount: { vcpus: 10 }, waitSeconds: 60 }]);
    const found = (await simulate({ last: "1h", set: ["vsphere.place=pack"] })).body as Simulation;
    expect(found).toMatchObject({ requests: 3, refused: 0 });
    expect(found.pools).toMatchObject([
      {
        pool: "vsphere",
        recorded: { granted: 3, waitSeconds: { max: 60 }, dimensions: [{ name: "vcpus" }] },
        simulated: { granted: 3, waitSeconds: { max: 0 } },
      },
    ]);
    const used = (8 * 60 + 10 * 60) / (20 * 120.001);
    expect(found.pools[0]?.recorded.utilisation).toBeCloseTo(used, 5);
    expect(found.total.recorded.utilisation).toBeLessThan(1);
  });

  test("tells how far the one is that runs", async () => {
    const running = simulate({ last: "1h" });
    const look = async () => (await site.call("GET /v1/simulate")).body;
    await running;
    expect(await look()).toEqual({ running: false, done: null });
  });

  test("says what is wrong with a setting", async () => {
    const wrong = await simulate({ set: ["aws.count=lots"] });
    expect(wrong.status).toBe(422);
    expect(asProblem(wrong)).toMatchObject({ code: "bad_setting" });
    expect(asProblem(await simulate({ set: ["azure.count=1"] })).code).toBe("bad_setting");
    expect((await simulate({ last: "1ms" })).status).toBe(400);
  });
});

describe("POST /v1/simulate/compare", () => {
  const compare = (body: object) => site.call("POST /v1/simulate/compare", { body });

  test("simulates several sizes of a pool, and the pool as it is", async () => {
    for (const id of ["a", "b", "c"]) await site.broker.submit(acquire(id, "aws"));
    for (const id of ["a", "b", "c"]) {
      await site.clock.advance(60_000);
      await site.broker.submit(release(id));
    }
    await site.clock.advance(1);
    const sizes = [[], ["aws.count=2"], ["aws.count=3"]];
    const { status, body } = await compare({ pool: "aws", last: "1h", variants: sizes });
    expect(status).toBe(200);
    const { variants } = body as SimulatedVariants;
    expect(variants.map(({ set }) => set)).toEqual(sizes);
    const waits = variants.map(({ simulation }) => {
      return simulation.pools.map(({ pool, simulated }) => [pool, simulated.waitSeconds?.max]);
    });
    expect(waits).toEqual([[["aws", 120]], [["aws", 60]], [["aws", 0]]]);
    expect(variants[0]?.simulation.pools[0]?.recorded.waitSeconds?.max).toBe(120);
    // The same question about an earlier end has an earlier answer, however late it is asked.
    const to = new Date(site.clock.now() - 120_000).toISOString();
    const earlier = await compare({ pool: "aws", last: "1h", to, variants: [[]] });
    const [then] = (earlier.body as SimulatedVariants).variants;
    expect(then?.simulation).toMatchObject({ to, pools: [{ recorded: { ended: 1 } }] });
  });

  test("refuses what it cannot simulate before it begins", async () => {
    const code = async (body: object) => asProblem(await compare(body)).code;
    expect(await code({ pool: "azure", variants: [[]] })).toBe("bad_setting");
    expect(await code({ pool: "aws", variants: [["aws.count=lots"]] })).toBe("bad_setting");
    expect(await code({ pool: "aws", variants: [["space:web.quota=2"]] })).toBe("bad_setting");
    expect(await code({ pool: "aws", variants: [["space:web.weight=0"]] })).toBe("bad_setting");
    const many = [["aws.count=60000"], ["aws.count=60000"]];
    expect(asProblem(await compare({ pool: "aws", variants: many })).detail).toContain(
      "with it the settings make 120,000 resources, and the limit is 100,000 (write at most 40,000)",
    );
    expect((await compare({ pool: "aws", variants: [] })).status).toBe(400);
    expect((await compare({ pool: "aws", variants: Array(17).fill([]) })).status).toBe(400);
  });
});
