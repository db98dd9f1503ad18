/** Clusters outside that nobody knows of, as a provisioner in another process reports them. */
import { expect, test } from "vitest";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { asProblem } from "../test-site.suite.ts";
import { clusterSite } from "./clusters-site.suite.ts";

const old = { name: "berth-old", instance: "old.1", createdAt: "2020-01-01T00:00:00Z" };
const search = { template: "ocp-aws", credentials: null, found: [old] };

test("what a search has found is compared with the books, and shown", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1 })]);
  const known = (await site.call("GET /v1/clusters")).body as { items: { instance: string }[] };
  const ours = { ...old, instance: known.items[0]?.instance ?? "" };
  const body = { ...search, found: [old, ours] };
  const answer = await site.call("POST /v1/orphans", { body });
  const shown = { ...old, template: "ocp-aws", space: null, seenSeconds: 0 };
  expect(answer.body).toMatchObject({ items: [shown] });
  await site.clock.advance(90_000);
  expect((await site.call("GET /v1/orphans")).body).toMatchObject({
    items: [{ ...shown, seenSeconds: 90 }],
    next: null,
  });
  const again = await site.call("POST /v1/orphans", { body: { ...search, found: [] } });
  expect([again.status, again.body]).toEqual([200, { items: [] }]);
  expect((await site.call("GET /v1/orphans")).body).toMatchObject({ items: [] });
});

test("a wrong report changes nothing", async () => {
  await using site = await clusterSite();
  for (const wrong of [{}, { ...search, found: [{ name: "x" }] }, { ...search, credentials: 1 }]) {
    const answer = await site.call("POST /v1/orphans", { body: wrong });
    expect([answer.status, asProblem(answer).code]).toEqual([400, "invalid_request"]);
  }
  const unknown = { ...search, template: "__proto__" };
  const answer = await site.call("POST /v1/orphans", { body: unknown });
  expect([answer.status, asProblem(answer).code]).toEqual([404, "template_not_found"]);
  expect((await site.call("GET /v1/orphans")).body).toMatchObject({ items: [] });
});

test("the space is shown whose credentials an orphan was found with", async () => {
  await using site = await clusterSite();
  const body = { ...search, template: "byo-aws", credentials: "team-a/aws#2" };
  await site.call("POST /v1/orphans", { body });
  expect((await site.call("GET /v1/orphans")).body).toMatchObject({
    items: [{ space: "team-a", template: "byo-aws" }],
  });
});

test("a search gets the credentials of all spaces, deleted ones that are kept included", async () => {
  await using site = await clusterSite();
  const { credentials } = site.vault;
  await credentials.put("team-a", "aws", { KEY: "first-key-of-a" });
  await credentials.put("team-a", "aws", { KEY: "second-key-of-a" });
  await credentials.put("team-b", "aws", { KEY: "key-of-b" });
  await credentials.put("team-b", "gcp", { KEY: "another-name" });
  const { body } = await site.call("GET /v1/templates/byo-aws/credentials");
  const { items } = body as { items: { reference: string; values: object }[] };
  expect(items.map(({ reference, values }) => [reference, values]).sort()).toEqual([
    ["team-a/aws#1", { KEY: "first-key-of-a" }],
    ["team-a/aws#2", { KEY: "second-key-of-a" }],
    ["team-b/aws#1", { KEY: "key-of-b" }],
  ]);
  const shared = await site.call("GET /v1/templates/ocp-aws/credentials");
  expect(shared.body).toEqual({ items: [] });
  expect((await site.call("GET /v1/templates/none/credentials")).status).toBe(404);
});

test("a worker gets the handles of clusters, and only if it asks", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1 })]);
  const work = await site.take("creating");
  const path = `/v1/leases/${work?.id}/claims/${work?.claim}/report`;
  const handle = { infra: "x-17" };
  await site.call(`POST ${path}`, { token: work?.token ?? "", body: { handle } });
  expect((await site.call("GET /v1/clusters?handles=true")).body).toMatchObject({
    items: [{ handle }],
  });
  expect((await site.call("GET /v1/clusters/ocp-1?handles=true")).body).toMatchObject({ handle });
  for (const plain of ["/v1/clusters", "/v1/clusters/ocp-1"]) {
    expect((await site.call(`GET ${plain}`)).text).not.toContain("handle");
  }
  expect((await site.call("GET /v1/clusters?handles=no")).status).toBe(400);
});
