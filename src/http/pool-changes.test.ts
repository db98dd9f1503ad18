import { expect, test } from "vitest";
import type { PoolChanges } from "../api/pool-changes-schema.ts";
import type { PageOf, Pool } from "../api/schemas.ts";
import { acquire, pool, release } from "../core/decide/lending.suite.ts";
import { testSite } from "./test-site.suite.ts";

test("GET /v1/pool-changes returns all pools, and then what has changed", async () => {
  await using site = await testSite([pool("aws", 1), pool("gcp", 2)]);
  const read = async (after?: string) => {
    const query = after === undefined ? "" : `?after=${after}`;
    return (await site.call(`GET /v1/pool-changes${query}`)).body as PoolChanges;
  };
  const first = await read();
  const { items } = (await site.call("GET /v1/pools")).body as PageOf<Pool>;
  expect(first.whole).toBe(true);
  expect(first.pools).toEqual(
    items.map(({ oldestWaitSeconds: _, ...same }) => ({ ...same, oldestQueuedAt: null })),
  );

  await site.broker.submit(acquire("a", "aws"));
  await site.broker.submit(acquire("b", "aws"));
  const second = await read(first.cursor);
  expect(second).toEqual({
    cursor: second.cursor,
    whole: false,
    pools: [
      {
        ...{ name: "aws", free: 0, held: 1, waiting: 1, states: { busy: 1 } },
        oldestQueuedAt: "2023-11-14T22:13:20.000Z",
      },
    ],
  });

  // Time alone changes nothing.
  await site.clock.advance(5_000);
  expect(await read(second.cursor)).toEqual({ ...second, pools: [] });

  await site.broker.submit(release("a"));
  await site.broker.submit({ type: "configure", pools: [pool("aws", 1)] });
  const third = await read(second.cursor);
  expect(third.whole).toBe(true);
  expect(third.pools.map(({ name }) => name)).toEqual(["aws"]);
});

test("GET /v1/pool-changes notices what changes with time alone", async () => {
  await using site = await testSite([
    pool("aws", 2, { pace: { everyMs: 3_000, jitter: 0, burst: 1 } }),
  ]);
  await site.broker.submit(acquire("a", "aws"));
  const read = async (after: string) =>
    (await site.call(`GET /v1/pool-changes?after=${after}`)).body as PoolChanges;
  const { cursor, pools } = await read("");
  expect(pools[0]?.flow?.nextGrantAt).not.toBeNull();
  await site.clock.advance(5_000);
  expect((await read(cursor)).pools).toMatchObject([{ flow: { nextGrantAt: null } }]);
});
