/** A pool that is only a limit shows who uses it and who waits for it. */
import { expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import type { PoolName } from "../core/model/ids.ts";
import { testSite } from "./test-site.suite.ts";

const under = { parent: "account" as PoolName };
const pools = () => [
  pool("account", [], { limit: 2 }),
  pool("aws", 3, under),
  pool("gcp", 3, under),
  pool("other", 1),
];
const ask = (name: string, ...names: string[]) => ({
  body: { holder: name, items: names.map((one) => ({ pool: one })) },
});

test("GET /v1/pools has the use of a limit, and the requests that wait below it", async () => {
  await using site = await testSite(pools());
  await site.call("POST /v1/leases", ask("a", "aws", "gcp"));
  await site.call("POST /v1/leases", ask("b", "aws", "gcp"));
  await site.clock.advance(5_000);
  expect(await site.call("GET /v1/pools/account")).toMatchObject({
    body: { total: 0, limit: { used: 2, limit: 2, waiting: 1, oldestWaitSeconds: 5 } },
  });
  const aws = await site.call("GET /v1/pools/aws");
  expect(aws.body).not.toHaveProperty("limit");
});

test("leases and requests of a pool that is only a limit are those of the pools below it", async () => {
  await using site = await testSite(pools());
  await site.call("POST /v1/leases", ask("a", "aws", "gcp"));
  await site.call("POST /v1/leases", ask("b", "gcp"));
  await site.call("POST /v1/leases", ask("c", "other"));
  const holders = async (line: string) => {
    const { body } = await site.call(line);
    return (body as { items: { holder: string }[] }).items.map(({ holder }) => holder);
  };
  expect(await holders("GET /v1/leases?pool=account")).toEqual(["a"]);
  expect(await holders("GET /v1/requests?pool=account")).toEqual(["b"]);
  expect(await holders("GET /v1/leases?pool=other")).toEqual(["c"]);
});

test("leases of a pool with resources of its own are not those of the pools below it", async () => {
  const parent = pool("account", 1, { limit: 2 });
  await using site = await testSite([parent, pool("aws", 3, under)]);
  await site.call("POST /v1/leases", ask("a", "aws"));
  expect(await site.call("GET /v1/leases?pool=account")).toMatchObject({ body: { items: [] } });
});
