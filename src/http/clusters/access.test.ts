/** Who gets the access to a cluster, and for how long (X1 to X3, C12). */
import { expect, test } from "vitest";
import { otherToken, testAuth, testTokens } from "../../auth/test-tokens.suite.ts";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { askBody, asLease, asProblem } from "../test-site.suite.ts";
import { bundle, clusterSite, kubeconfig, secrets } from "./clusters-site.suite.ts";

const accessOf = ({ id, claims }: { id: string; claims: readonly { id: string }[] }) =>
  `/v1/leases/${id}/claims/${claims[0]?.id}/access`;

test("the holder reads its access as often as it wants, until it releases the lease", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  const name = await site.make();
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  expect(lease.claims).toMatchObject([{ resource: name, cluster: true }]);
  for (let times = 0; times < 2; times++) {
    const { status, body, headers } = await site.call(`GET ${accessOf(lease)}`, lease);
    expect(status).toBe(200);
    expect(headers["cache-control"]).toBe("no-store");
    expect(body).toMatchObject({ ...bundle, resource: name, fence: lease.claims[0]?.fence });
  }
  await site.call(`DELETE /v1/leases/${lease.id}`, lease);
  const after = await site.call(`GET ${accessOf(lease)}`, lease);
  expect([after.status, asProblem(after).code]).toEqual([410, "lease_ended"]);
});

test("P14: of one pool, others get nothing: no token, another lease's token, an operator, another space", async () => {
  await using site = await clusterSite(
    [clusterPool("ocp", { size: 2, running: 2 })],
    testAuth,
    testTokens.worker,
  );
  await site.make();
  await site.make();
  const ask = { body: askBody("ocp"), token: testTokens.holder };
  const lease = asLease(await site.call("POST /v1/leases", ask));
  const theirs = asLease(await site.call("POST /v1/leases", { ...ask, token: otherToken }));
  const path = accessOf(lease);
  const refused: [string | undefined, number, string][] = [
    [undefined, 401, "token_missing"],
    [theirs.token, 403, "token_wrong"],
    [testTokens.admin, 403, "token_wrong"],
    [otherToken, 403, "token_wrong"],
  ];
  for (const [token, status, code] of refused) {
    const answer = await site.look(`GET ${path}`, token === undefined ? {} : { token });
    expect([answer.status, asProblem(answer).code]).toEqual([status, code]);
  }
  // The claim of another lease under one's own.
  const mixed = `GET /v1/leases/${lease.id}/claims/${theirs.claims[0]?.id}x/access`;
  expect((await site.look(mixed, lease)).status).toBe(404);
  for (const answer of site.looked) {
    for (const secret of secrets) expect(answer.text).not.toContain(secret);
  }
});

test("a worker stores access with its own lease only, and cannot read it", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  const work = await site.take("creating");
  if (work === undefined) throw new Error("nothing to do");
  const path = `/v1/leases/${work.id}/claims/${work.claim}/access`;
  const put = (token: string, body: object = bundle) => site.look(`PUT ${path}`, { token, body });
  expect((await put("x".repeat(43))).status).toBe(403);
  expect((await put(work.token, { password: secrets[1] })).status).toBe(400);
  expect((await put(work.token, { ...bundle, password: [secrets[1]] })).status).toBe(400);
  expect((await put(work.token)).status).toBe(204);
  expect((await site.look(`GET ${path}`, work)).status).toBe(404);
  await site.call(`DELETE /v1/leases/${work.id}?state=free`, work);
  expect((await put(work.token)).status).toBe(410);
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  const own = await site.look(`PUT ${accessOf(lease)}`, { token: lease.token, body: bundle });
  expect([own.status, asProblem(own).code]).toEqual([403, "not_its_worker"]);
  for (const { text } of site.looked) for (const one of secrets) expect(text).not.toContain(one);
});

test("access that is not stored yet, or has expired, is not ready: ask again", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  const work = await site.take("creating");
  await site.call(`DELETE /v1/leases/${work?.id}?state=free`, { token: work?.token ?? "" });
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  const early = await site.call(`GET ${accessOf(lease)}`, lease);
  expect([early.status, asProblem(early).code]).toEqual([503, "access_not_ready"]);
  expect(early.headers["retry-after"]).toBeDefined();
  const instance = await site.broker.read((state) => {
    const [resource] = state.resources.values();
    return resource?.sharing === "exclusive" ? (resource.cluster?.instance ?? "") : "";
  });
  const expiresAt = new Date(site.clock.now() + 60_000).toISOString();
  await site.vault.access.put(instance, { kubeconfig, expiresAt });
  expect((await site.call(`GET ${accessOf(lease)}`, lease)).body).toMatchObject({ expiresAt });
  await site.vault.access.put(instance, {
    kubeconfig,
    expiresAt: new Date(site.clock.now()).toISOString(),
  });
  expect((await site.call(`GET ${accessOf(lease)}`, lease)).status).toBe(503);
});

test("a revoked lease has no access, although its resources are not lent again yet", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  await site.make();
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  await site.call(`DELETE /v1/leases/${lease.id}?force=true&reason=stop`);
  expect((await site.call(`GET ${accessOf(lease)}`, lease)).status).toBe(410);
});

test("an old fence is refused, and the present one is accepted", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  await site.make();
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  const fence = lease.claims[0]?.fence ?? 0;
  expect((await site.call(`GET ${accessOf(lease)}?fence=${fence}`, lease)).status).toBe(200);
  const old = await site.call(`GET ${accessOf(lease)}?fence=${fence - 1}`, lease);
  expect([old.status, asProblem(old).code]).toEqual([409, "cluster_replaced"]);
});

test("a vault that cannot be opened is a precise error, and lending goes on", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  await site.make();
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  const { VaultUnusable } = await import("../../vault/vault.ts");
  const state = 'Cannot use the vault\'s keys "/var/lib/berth/vault.key": it does not exist';
  Object.assign(site.vault.access, {
    open: () => Promise.reject(new VaultUnusable(state, "Restore it from a backup")),
  });
  const answer = await site.call(`GET ${accessOf(lease)}`, lease);
  expect([answer.status, asProblem(answer).code]).toEqual([503, "vault_unavailable"]);
  expect(answer.text).toContain("it does not exist");
  expect(answer.text).not.toContain("/var/lib");
  expect((await site.call(`POST /v1/leases/${lease.id}/heartbeat`, lease)).status).toBe(200);
});

test("no listing, event, history, metric, error or log has anything of the access (X1)", async () => {
  await using site = await clusterSite(
    [clusterPool("ocp", { size: 1, running: 1 })],
    testAuth,
    testTokens.worker,
  );
  const name = await site.make();
  const ask = { body: askBody("ocp"), token: testTokens.holder };
  const lease = asLease(await site.call("POST /v1/leases", ask));
  await site.call(`GET ${accessOf(lease)}`, lease);
  const paths = [
    ...["/v1/clusters", `/v1/clusters/${name}`, `/v1/clusters/${name}/logs`, "/v1/templates"],
    ...["/v1/templates/ocp-aws", "/v1/pools", "/v1/resources", `/v1/resources/${name}`],
    ...["/v1/leases", `/v1/leases/${lease.id}`, "/v1/events/past", "/v1/history", "/v1/stats"],
    ...["/v1/credentials", "/v1/config", "/metrics", "/v1/spaces", `/v1/search?q=${name}`],
  ];
  for (const token of [testTokens.admin, testTokens.holder, lease.token, otherToken]) {
    for (const path of paths) await site.look(`GET ${path}`, { token });
  }
  expect(site.looked.filter(({ status }) => status === 200).length).toBeGreaterThan(30);
  const seen = [...site.looked.map(({ text }) => text), site.log()];
  seen.push(JSON.stringify(site.journal.appends), await site.state());
  for (const text of seen) for (const secret of secrets) expect(text).not.toContain(secret);
});

test("a resource that is a cluster says so, because nobody may set its state", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  const listed = async () => (await site.call("GET /v1/resources?pool=ocp")).body;
  const phase = { since: expect.any(String), usualSeconds: null };
  expect(await listed()).toMatchObject({ items: [{ state: "creating", cluster: true, phase }] });
  const path = `/v1/resources/${await site.make()}`;
  const { body: made } = await site.call(`GET ${path}`);
  expect(made).toMatchObject({ state: "free", cluster: true });
  expect(made).not.toHaveProperty("phase");
  const body = { state: "quarantined", by: "ops", reason: "test" };
  const refused = await site.call(`PATCH ${path}`, { body });
  expect(asProblem(refused).code).toBe("state_reserved");
});

test("a replaced cluster has another access and a larger fence; the old epoch is refused (C12)", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 2, running: 2 })]);
  const [first] = [await site.make(), await site.make()];
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  const [claim] = lease.claims;
  expect(claim?.resource).toBe(first);
  const path = `/v1/leases/${lease.id}/claims/${claim?.id}`;
  const stranger = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  const refused = await site.call(`POST ${path}/replace`, { token: stranger.token });
  expect(refused.status).toBe(403);
  await site.call(`DELETE /v1/leases/${stranger.id}`, stranger);
  expect((await site.call(`POST ${path}/replace`, { token: lease.token })).status).toBe(204);
  for (
    let made = 0;
    made < 3 && (await site.call(`GET /v1/leases/${lease.id}`, lease)).status === 200;
    made++
  ) {
    const now = asLease(await site.call(`GET /v1/leases/${lease.id}`, lease));
    if (now.claims.length > 0) break;
    await site.make();
  }
  const now = asLease(await site.call(`GET /v1/leases/${lease.id}`, lease));
  const [other] = now.claims;
  expect(other?.resource).not.toBe(first);
  expect(other?.fence).toBeGreaterThan(claim?.fence ?? 0);
  const access = `/v1/leases/${lease.id}/claims/${other?.id}/access`;
  const old = await site.call(`GET ${access}?fence=${claim?.fence}`, lease);
  expect([old.status, asProblem(old).code]).toEqual([409, "cluster_replaced"]);
  const present = await site.call(`GET ${access}`, lease);
  expect(present.body).toMatchObject({ resource: other?.resource, fence: other?.fence });
});

test("an adopted cluster has a name as in the configuration, and is not destroyed at once", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  await site.make();
  const body = { pool: "ocp", instance: "mine.1", by: "ops", reason: "found" };
  const bad = await site.call(`PUT /v1/clusters/${encodeURIComponent("<b>\u202e")}`, { body });
  expect(bad.status).toBe(400);
  const surplus = await site.call("PUT /v1/clusters/mine", { body });
  expect([surplus.status, asProblem(surplus).code]).toEqual([409, "cluster_surplus"]);
  await site.call("POST /v1/leases", { body: askBody("ocp") });
  const made = await site.call("GET /v1/clusters?pool=ocp");
  expect(made.text).not.toContain("mine");
});
