import { expect, test } from "vitest";
import type { SearchResult, Trends, Whoami } from "../api/schemas.ts";
import { acquire, clean, pool, release } from "../core/decide/lending.suite.ts";
import type { PoolName } from "../core/model/ids.ts";
import { capacityPool } from "../core/shared/capacity.suite.ts";
import { askBody, asRequest, type TestSite, testSite } from "./test-site.suite.ts";
import { TrendSampler } from "./trends.ts";

test("GET /v1/search finds pools, resources, leases and requests by any part of them", async () => {
  await using site = await testSite([pool("aws", 1), pool("gcp", 2)]);
  await site.call("POST /v1/leases", { body: askBody("aws", { holder: "nightly/7" }) });
  const waits = askBody("aws", { holder: "release/8", labels: { team: "Payments" } });
  await site.call("POST /v1/leases", { body: waits });
  const kinds = async (q: string) => {
    const { body } = await site.call(`GET /v1/search?q=${encodeURIComponent(q)}`);
    return (body as SearchResult).items.map(
      ({ kind, title, about }) => `${kind}: ${title} ${about}`,
    );
  };
  expect(await kinds("AWS")).toEqual([
    "pool: aws 1 resource, 0 free, 1 waiting",
    "resource: aws-1 held in aws",
  ]);
  expect(await kinds("nightly")).toEqual(["lease: nightly/7 holds aws-1"]);
  expect(await kinds("payments")).toEqual(["request: release/8 waits for aws"]);
  expect(await kinds("nothing")).toEqual([]);
  expect(await site.call("GET /v1/search?q=")).toMatchObject({ status: 400 });
});

test("GET /v1/search tells no more than fit, and that there are more", async () => {
  await using site = await testSite([pool("aws", 200)]);
  const { body } = await site.call("GET /v1/search?q=aws-");
  expect((body as SearchResult).items).toHaveLength(50);
  expect(body).toMatchObject({ more: true });
});

test("GET /v1/trends has a sample from the start", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const { body } = await site.call("GET /v1/trends");
  expect((body as Trends).pools).toEqual([{ pool: "aws", held: [0], waiting: [0] }]);
});

test("GET /v1/trends of a shared pool has the part in use of its fullest dimension", async () => {
  const sizes = { a: { capacity: { vcpus: 10, memory: 100 } }, b: { capacity: { vcpus: 10 } } };
  await using site = await testSite([capacityPool(sizes)]);
  const { body } = await site.call("GET /v1/trends");
  expect((body as Trends).pools).toEqual([
    { pool: "vsphere", held: [0], waiting: [0], usedPercent: [0] },
  ]);
  const items = [{ pool: "vsphere", amount: { vcpus: 5, memory: 30 } }];
  await site.call("POST /v1/leases", { body: { holder: "ci", items, ttl: "1m" } });
  const sampler = new TrendSampler();
  await site.broker.read((state, now) => sampler.sample(state, now));
  expect(sampler.render(site.broker.now()).pools[0]?.usedPercent).toEqual([30]);
});

test("GET /v1/trends has the half hour before the start of the server, from the history", async () => {
  await using site = await testSite([pool("aws", 2), pool("idle", 1)]);
  await site.clock.advance(3_600_000);
  await site.broker.submit(acquire("a", "aws"));
  await site.clock.advance(60_000);
  const { held = [], waiting } = await trendAfterStart(site, "aws");
  expect(held).toHaveLength(90);
  expect(held.slice(-5)).toEqual([0, 1, 1, 1, 1]);
  expect(waiting).toEqual(new Array(90).fill(0));
  expect((await trendAfterStart(site, "idle")).held).toEqual(new Array(90).fill(0));
});

test("GET /v1/trends of a shared pool has its use from before the start too", async () => {
  await using site = await testSite([
    capacityPool({ a: { capacity: { vcpus: 10, memory: 100 } } }),
  ]);
  await site.clock.advance(3_600_000);
  const items = [{ pool: "vsphere", amount: { vcpus: 5, memory: 30 } }];
  await site.call("POST /v1/leases", { body: { holder: "ci", items, ttl: "10m" } });
  await site.clock.advance(60_000);
  const { usedPercent = [] } = await trendAfterStart(site, "vsphere");
  expect(usedPercent).toHaveLength(90);
  expect(usedPercent.slice(-5)).toEqual([0, 50, 50, 50, 50]);
});

/** As a server that starts now would answer. */
async function trendAfterStart(
  { broker, insight }: TestSite,
  name: string,
): Promise<Partial<Trends["pools"][number]>> {
  const sampler = new TrendSampler();
  await broker.read((state, now) => sampler.sample(state, now));
  const times = TrendSampler.timesBefore(broker.now());
  sampler.addEarlier(await insight.ask("samples", times), new Map());
  const { pools } = sampler.render(broker.now());
  return pools.find((trend) => trend.pool === name) ?? {};
}

test("pools and trends count use, and no cleaning", async () => {
  await using site = await testSite([pool("aws", 3, { onRelease: "dirty" })]);
  await site.broker.submit(acquire("a", "aws"));
  await site.broker.submit(release("a"));
  await site.broker.submit(clean("cleaning"));
  await site.broker.submit(acquire("b", "aws"));
  expect(await site.call("GET /v1/pools/aws")).toMatchObject({
    body: { total: 3, held: 1, free: 1, states: { busy: 1, cleaning: 1 } },
  });
  expect((await trendAfterStart(site, "aws")).held?.at(-1)).toBe(1);
});

test("the trend of a limit has the use and the waits of the pools below it", async () => {
  const below = (name: string) => pool(name, 1, { parent: "all" as PoolName });
  await using site = await testSite([pool("all", 0, { limit: 1 }), below("east"), below("west")]);
  await site.call("POST /v1/leases", { body: askBody("east") });
  await site.call("POST /v1/leases", { body: askBody("east") });
  await site.call("POST /v1/leases", { body: askBody("west") });
  const { held, waiting } = await trendAfterStart(site, "all");
  expect([held?.at(-1), waiting?.at(-1)]).toEqual([1, 2]);
});

test("TrendSampler keeps the latest ninety, and forgets pools that are gone", async () => {
  await using site = await testSite([pool("aws", 1), pool("gcp", 1)]);
  const sampler = new TrendSampler();
  const sample = () => site.broker.read((state, now) => sampler.sample(state, now));
  for (let taken = 0; taken < 100; taken++) await sample();
  await site.call("POST /v1/leases", { body: askBody("aws") });
  await site.broker.submit({ type: "configure", pools: [pool("aws", 1)] });
  await sample();
  const { pools } = sampler.render(site.clock.now());
  expect(pools.map(({ pool: name }) => name)).toEqual(["aws"]);
  expect(pools[0]?.held).toHaveLength(90);
  expect(pools[0]?.held.at(-1)).toBe(1);
});

test.each([
  ["this machine, by its address", "127.0.0.1", "127.0.0.1:8080", true],
  ["this machine, by its name", "::1", "localhost:8080", true],
  ["another machine", "10.0.0.1", "localhost:8080", false],
])("GET /v1/whoami judges %s", async (_, from, host, operator) => {
  await using site = await testSite([pool("aws", 1)]);
  const { body } = await site.call("GET /v1/whoami", { from, headers: { host } });
  expect(body).toMatchObject({ operator, version: "0.0.0", head: site.broker.head });
  expect((body as Whoami).refusal).toEqual(
    operator ? null : expect.stringContaining("Cannot act on behalf of others"),
  );
});

test("GET /v1/whoami does not answer under a name that a stranger chose", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const answer = await site.call("GET /v1/whoami", { headers: { host: "evil.example:8080" } });
  expect(answer).toMatchObject({ status: 421, body: { code: "host_not_allowed" } });
});

test.each([
  ["http://localhost:8080", 200],
  ["http://127.0.0.1:8080", 200],
  ["http://[::1]:8080", 200],
  ["http://evil.example:8080", 403],
  ["http://127.evil.example:8080", 403],
  ["http://127.0.0.1.nip.io:8080", 403],
  ["null", 403],
])("an action from a page at %s is answered %i", async (origin, status) => {
  await using site = await testSite([pool("aws", 1)]);
  const body = { drained: true };
  const answer = await site.call("PATCH /v1/resources/aws-1", { body, headers: { origin } });
  expect(answer.status).toBe(status);
});

test("an operator who takes somebody out of the queue is named in the event, with the reason", async () => {
  await using site = await testSite([pool("aws", 1)]);
  await site.call("POST /v1/leases", { body: askBody("aws") });
  const { id } = asRequest(await site.call("POST /v1/leases", { body: askBody("aws") }));
  const query = "force=true&by=ada&reason=a%20duplicate";
  expect(await site.call(`DELETE /v1/requests/${id}?${query}`)).toMatchObject({ status: 204 });
  const events = [];
  for await (const recorded of site.journal.read(0)) events.push(...recorded.events);
  const reason = { by: "ada", why: "a duplicate" };
  const from = { way: "http" };
  expect(events.at(-1)).toEqual({ type: "request-left", id, why: "cancelled", reason, from });
});
