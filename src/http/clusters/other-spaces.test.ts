/** What other spaces learn of a cluster: that it exists, its pool and its state. */
import { expect, test } from "vitest";
import { otherToken, testAuth, testTokens } from "../../auth/test-tokens.suite.ts";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { asProblem } from "../test-site.suite.ts";
import { clusterSite } from "./clusters-site.suite.ts";

const pools = [clusterPool("ocp"), clusterPool("byo", { template: "byo-aws" })];
const site = () => clusterSite(pools, testAuth, testTokens.worker);
type Site = Awaited<ReturnType<typeof site>>;

async function read(berth: Site, name: string, pool: string, token: string): Promise<string> {
  const lines = [
    ...["clusters", `clusters/${name}`, `resources/${name}`, `pools/${pool}`, `pools/${pool}/plan`],
    ...["events/past", `events/past?resource=${name}`],
  ];
  const answers = lines.map((line) => berth.call(`GET /v1/${line}`, { token }));
  const texts = (await Promise.all(answers)).map(({ status, text }) => {
    expect(status).toBe(200);
    return text;
  });
  return texts.join("\n");
}

test("a cluster with own credentials belongs to its space from its first moment", async () => {
  await using berth = await site();
  const token = testTokens.holder;
  await berth.call("PUT /v1/credentials/aws", { token, body: { values: { KEY: "value-1" } } });
  const body = { holder: "a job", items: [{ pool: "byo" }] };
  expect((await berth.call("POST /v1/leases", { token, body })).status).toBe(202);
  const work = await berth.take("creating", "byo");
  const name = work?.resource ?? "";
  expect(await read(berth, name, "byo", token)).toContain("team/aws#1");
  expect(await read(berth, name, "byo", otherToken)).not.toContain("team/aws");
});

test("parameters, messages, addresses and notes of a cluster stay in its space", async () => {
  await using berth = await site();
  const token = testTokens.holder;
  const items = [{ pool: "ocp", parameters: { workers: 5, version: "4.19" } }];
  await berth.call("POST /v1/leases", { token, body: { holder: "a job", items } });
  const work = await berth.take("creating");
  const { id, claim, resource: name } = work ?? { id: "", claim: "", resource: "" };
  const report = { message: "for the launch", apiUrl: "https://launch.example" };
  const reported = { token: work?.token ?? "", body: report };
  await berth.call(`POST /v1/leases/${id}/claims/${claim}/report`, reported);
  const hidden = /"workers"|4\.19|launch|secret-plan|operator-name/;
  expect(await read(berth, name, "ocp", otherToken)).not.toMatch(hidden);
  await berth.call(`DELETE /v1/leases/${id}?state=free`, { token: work?.token ?? "" });
  const hold = { for: "5m", reason: "secret-plan", by: "operator-name" };
  const held = { token: testTokens.operator, body: hold };
  expect((await berth.call(`PUT /v1/clusters/${name}/hold`, held)).status).toBe(200);
  expect(await read(berth, name, "ocp", token)).toMatch(/secret-plan/);
  expect(await read(berth, name, "ocp", otherToken)).not.toMatch(hidden);
  const plan = await berth.call("GET /v1/pools/ocp/plan", { token: otherToken });
  expect(plan.text).toContain(`keeps ${name} for 5m"`);
});

test("what fails on a cluster of a space is trouble of that space", async () => {
  await using berth = await site();
  const token = testTokens.holder;
  const items = [{ pool: "ocp", parameters: { workers: 5 } }];
  await berth.call("POST /v1/leases", { token, body: { holder: "a job", items, ttl: "1h" } });
  for (let failures = 0; failures < 2; failures += 1) {
    const work = await berth.take("creating");
    const { id, claim, token: own } = work ?? { id: "", claim: "", token: "" };
    const report = { message: "no quota in account-of-team" };
    await berth.call(`POST /v1/leases/${id}/claims/${claim}/report`, { token: own, body: report });
    const failed = { token: own, body: { failure: "no quota in account-of-team" } };
    await berth.call(`DELETE /v1/leases/${id}`, failed);
    await berth.clock.advance(30_000);
  }
  const trouble = async (as: string) => (await berth.call("GET /v1/attention", { token: as })).text;
  expect(await trouble(testTokens.operator)).toContain("account-of-team");
  expect(await trouble(otherToken)).not.toContain("account-of-team");
});

test("of a cluster in stock other spaces learn neither its handle nor what operators wrote", async () => {
  await using berth = await clusterSite(
    [clusterPool("ocp", { size: 1 })],
    testAuth,
    testTokens.worker,
  );
  const work = await berth.take("creating");
  const { id, claim, resource: name } = work ?? { id: "", claim: "", resource: "" };
  const token = work?.token ?? "";
  const report = { handle: { infra: "secret-handle" }, message: "installing" };
  await berth.call(`POST /v1/leases/${id}/claims/${claim}/report`, { token, body: report });
  await berth.call(`DELETE /v1/leases/${id}?state=free`, { token });
  const hold = { for: "5m", reason: "secret-plan", by: "operator-name" };
  const held = { token: testTokens.operator, body: hold };
  expect((await berth.call(`PUT /v1/clusters/${name}/hold`, held)).status).toBe(200);
  const past = `GET /v1/events/past?resource=${name}`;
  const hidden = /secret-handle|secret-plan|operator-name/;
  const seen = (await berth.call(past, { token: otherToken })).text;
  expect(seen).not.toMatch(hidden);
  expect(seen).toContain('"message":"installing"');
  expect(await read(berth, name, "ocp", otherToken)).not.toMatch(hidden);
  const found = await berth.call("GET /v1/search?q=secret-plan", { token: otherToken });
  expect(found.body).toEqual({ items: [], more: false, counts: {} });
  const all = await read(berth, name, "ocp", testTokens.operator);
  for (const text of ["secret-plan", "operator-name"]) expect(all).toContain(text);
  // Not even in events: a viewer may read them, and handles are for workers.
  expect(all).not.toContain("secret-handle");
  const one = `GET /v1/clusters/${name}?handles=true`;
  expect((await berth.call(one, { token: testTokens.worker })).text).toContain("secret-handle");
  expect((await berth.call(one, { token: testTokens.viewer })).status).toBe(403);
});

test("why a cluster of a space failed is for this space, also as the note of the resource", async () => {
  await using berth = await site();
  const token = testTokens.holder;
  const items = [{ pool: "ocp", parameters: { workers: 5 } }];
  await berth.call("POST /v1/leases", { token, body: { holder: "a job", items } });
  const work = await berth.take("creating");
  const { id, resource: name } = work ?? { id: "", resource: "" };
  const failed = { token: work?.token ?? "", body: { failure: "no quota for the launch" } };
  expect((await berth.call(`DELETE /v1/leases/${id}`, failed)).status).toBe(204);
  const path = `GET /v1/resources/${name}`;
  expect((await berth.call(path, { token: testTokens.viewer })).text).toContain("launch");
  expect((await berth.call(path, { token: otherToken })).text).not.toContain("launch");
  const list = "GET /v1/resources?pool=ocp";
  expect((await berth.call(list, { token: otherToken })).text).not.toContain("launch");
  const search = "GET /v1/search?q=launch";
  const hits = async (by: string) => (await berth.call(search, { token: by })).body;
  expect(await hits(testTokens.viewer)).toMatchObject({ items: [{ kind: "resource", name }] });
  expect(await hits(otherToken)).toEqual({ items: [], more: false, counts: {} });
});

test("events of an earlier cluster stay hidden when an operator adopts one under its name", async () => {
  await using berth = await site();
  const token = testTokens.holder;
  const items = [{ pool: "ocp", parameters: { workers: 5 } }];
  const asked = await berth.call("POST /v1/leases", { token, body: { holder: "a job", items } });
  const first = await berth.take("creating");
  const { id, claim, resource: name } = first ?? { id: "", claim: "", resource: "" };
  const report = { token: first?.token ?? "", body: { message: "for the launch" } };
  await berth.call(`POST /v1/leases/${id}/claims/${claim}/report`, report);
  const { id: request } = asked.body as { readonly id: string };
  await berth.call(`DELETE /v1/requests/${request}?force=true`, { token: testTokens.operator });
  await berth.call(`DELETE /v1/leases/${id}?state=free`, { token: first?.token ?? "" });
  const operator = testTokens.operator;
  const gone = await berth.take("destroying");
  await berth.call(`DELETE /v1/leases/${gone?.id}?state=tombstone`, { token: gone?.token ?? "" });
  expect((await berth.call(`GET /v1/clusters/${name}`, { token: operator })).status).toBe(404);
  await berth.clock.advance(1_000);
  await berth.broker.submit({
    type: "configure",
    pools: [clusterPool("ocp", { size: 2, concurrent: 1 })],
  });
  const body = { pool: "ocp", instance: "of-before.1" };
  const adopted = await berth.call(`PUT /v1/clusters/${name}`, { token: operator, body });
  expect([adopted.status, adopted.text]).toEqual([200, expect.stringContaining("of-before.1")]);
  const past = `GET /v1/events/past?resource=${name}`;
  expect((await berth.call(past, { token: operator })).text).toContain("for the launch");
  const seen = (await berth.call(past, { token: otherToken })).text;
  expect(seen).toContain("of-before.1");
  expect(seen).not.toMatch(/launch|"workers"/);
});

test("naming the state free does not get around the credentials of a space", async () => {
  await using berth = await site();
  const body = { holder: "a job", items: [{ pool: "byo", state: "free" }] };
  const answer = await berth.call("POST /v1/leases", { token: otherToken, body });
  expect([answer.status, asProblem(answer).code]).toEqual([422, "credentials_needed"]);
});

test("neither do Boskos's calls or the lease proxy's: nothing is planned that cannot be made", async () => {
  await using berth = await site();
  const token = otherToken;
  const asks = [
    "POST /acquire?type=byo&state=free&dest=busy&owner=a&request_id=1",
    "POST /lease/acquire?type=byo",
  ];
  for (const ask of asks) {
    const { status, text } = await berth.call(ask, { token });
    expect([status, text]).toEqual([422, expect.stringContaining("no credentials")]);
  }
  const { body } = await berth.call("GET /v1/clusters?pool=byo", { token: testTokens.operator });
  expect(body).toMatchObject({ items: [] });
});
