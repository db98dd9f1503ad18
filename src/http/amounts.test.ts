import { expect, test } from "vitest";
import { seedPools } from "../core/shared/capacity.suite.ts";
import { testSite } from "./test-site.suite.ts";

const ask = (vcpus: number, more: object = {}, count = 1) => ({
  body: { holder: "job", items: [{ pool: "vsphere", count, amount: { vcpus }, ...more }] },
});

test("POST /v1/leases lends amounts, says where, and refuses with the numbers", async () => {
  await using site = await testSite([seedPools()]);
  const granted = await site.call("POST /v1/leases", ask(24, { spread: "vcenter" }, 2));
  expect(granted).toMatchObject({
    status: 201,
    body: {
      claims: [
        { resource: "pool1", amount: { vcpus: 24 } },
        { resource: "pool2", amount: { vcpus: 24 } },
      ],
    },
  });
  expect(await site.call("POST /v1/leases", ask(500))).toMatchObject({
    status: 422,
    body: {
      code: "amount_too_large",
      detail: "Cannot ever grant 500 vcpus of vsphere: the largest eligible resource has 120",
      largest: 120,
    },
  });
  expect(await site.call("GET /v1/pools/vsphere")).toMatchObject({
    body: { place: "least-used", usage: [{ dimension: "vcpus", used: 48, capacity: 220 }, {}, {}] },
  });
  const { text } = await site.call("GET /metrics");
  expect(text.match(/^berth_capacity.*/gm)).toEqual([
    'berth_capacity{pool="vsphere",dimension="vcpus"} 220',
    'berth_capacity{pool="vsphere",dimension="memory"} 3000',
    'berth_capacity{pool="vsphere",dimension="storage"} 16000',
    'berth_capacity_used{pool="vsphere",dimension="vcpus"} 48',
    'berth_capacity_used{pool="vsphere",dimension="memory"} 0',
    'berth_capacity_used{pool="vsphere",dimension="storage"} 0',
  ]);
  expect(await site.call("GET /v1/resources/pool1")).toMatchObject({
    body: {
      state: "busy",
      usage: [{ used: 24, capacity: 120 }, {}, {}],
      shares: [{ holder: "job" }],
    },
  });
});

test("GET /v1/explain tells for each resource what is missing and who has it the longest", async () => {
  await using site = await testSite([seedPools()]);
  await site.call("POST /v1/leases", ask(100));
  const { body } = await site.call("POST /v1/leases", ask(100));
  const { id } = body as { id: string };
  expect(await site.call(`GET /v1/explain/${id}`)).toMatchObject({
    status: 200,
    body: {
      needs: [
        {
          rooms: [
            {
              resource: "pool1",
              fits: false,
              short: [{ dimension: "vcpus", asked: 100, free: 20 }],
              // Of the same moment, so that the page adds nothing of another answer.
              usage: expect.arrayContaining([{ dimension: "vcpus", used: 100, capacity: 120 }]),
              shares: [{ holder: "job", amount: { vcpus: 100 } }],
              longest: { holder: "job" },
            },
            { resource: "pool2", short: [{ asked: 100, free: 60 }] },
            { resource: "pool3" },
          ],
        },
      ],
    },
  });
});

test("POST /v1/leases grants a group at one moment", async () => {
  await using site = await testSite([seedPools()]);
  const member = (name: string) => ({
    body: { ...ask(24).body, holder: name, group: { name: "e2e", size: 2 } },
  });
  const first = await site.call("POST /v1/leases", member("a"));
  expect(first).toMatchObject({ status: 202, body: { reason: { code: "group_incomplete" } } });
  expect(await site.call("POST /v1/leases", member("b"))).toMatchObject({ status: 201 });
  const { id } = first.body as { id: string };
  expect(await site.call(`GET /v1/leases/${id}`)).toMatchObject({ status: 200 });
});

test.each([
  [{ amount: { vcpus: -1 } }],
  [{ amount: { vcpus: 1.5 } }],
  [{ strategy: "best" }],
  [{ tolerations: [{ effect: "NoExecute" }] }],
  [{ requiresPool: "x" }],
])("POST /v1/leases refuses %j", async (more) => {
  await using site = await testSite([seedPools()]);
  expect(await site.call("POST /v1/leases", ask(1, more))).toMatchObject({ status: 400 });
});
