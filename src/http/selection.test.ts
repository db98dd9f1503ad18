/** Requests that select resources of an exclusive pool by label or name. */
import { expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import type { PoolSpec } from "../core/model/policy.ts";
import { testSite } from "./test-site.suite.ts";

function accounts(): PoolSpec {
  const { members, ...spec } = pool("aws", 3);
  const region = (index: number) => ({ region: index === 2 ? "us-east" : "eu-west" });
  return { ...spec, members: members.map((one, index) => ({ ...one, labels: region(index) })) };
}

const ask = (item: object, holder = "job") => ({
  body: { holder, items: [{ pool: "aws", ...item }] },
});
const east = { selector: { region: "us-east" } };

test("POST /v1/leases grants the resource with the label, or with the name", async () => {
  await using site = await testSite([accounts()]);
  expect(await site.call("POST /v1/leases", ask(east))).toMatchObject({
    status: 201,
    body: { claims: [{ resource: "aws-3", labels: { region: "us-east" } }] },
  });
  expect(await site.call("POST /v1/leases", ask({ resource: "aws-2" }))).toMatchObject({
    status: 201,
    body: { claims: [{ resource: "aws-2" }] },
  });
});

test("GET /v1/explain counts only the resources that match", async () => {
  await using site = await testSite([accounts()]);
  await site.call("POST /v1/leases", ask(east, "first"));
  const waiting = await site.call("POST /v1/leases", ask(east, "second"));
  expect(waiting).toMatchObject({
    status: 202,
    body: {
      items: [{ pool: "aws", ...east }],
      reason: { message: "The only one of aws with region=us-east is held; next in line" },
    },
  });
  const { id } = waiting.body as { id: string };
  expect(await site.call(`GET /v1/explain/${id}`)).toMatchObject({
    body: {
      needs: [
        {
          ...{ selects: "region=us-east", needed: 1, free: 0, size: 1, states: { busy: 1 } },
          heldBy: [{ holder: "first", resource: "aws-3" }],
        },
      ],
    },
  });
});

test.each([
  [{ selector: { region: "eu-wset" } }, "Did you mean region=eu-west?"],
  [{ resource: "aws-33" }, "Did you mean aws-3?"],
  [{ ...east, count: 2 }, "Ask for 1 at the most, or for fewer conditions"],
])("POST /v1/leases refuses %j with the nearest match", async (item, hint) => {
  await using site = await testSite([accounts()]);
  expect(await site.call("POST /v1/leases", ask(item))).toMatchObject({
    status: 422,
    body: { code: "too_few_eligible", hint },
  });
});
