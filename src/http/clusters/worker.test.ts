/** What a provisioner in another process calls. */
import { expect, test } from "vitest";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { askBody, asLease, asProblem } from "../test-site.suite.ts";
import { bundle, clusterSite, secrets } from "./clusters-site.suite.ts";

const running = [clusterPool("ocp", { size: 1, running: 1 })];

test("a worker reports, learns what is wanted, and its texts are masked", async () => {
  await using site = await clusterSite(running);
  const work = await site.take("creating");
  if (work === undefined) throw new Error("nothing to do");
  const path = `/v1/leases/${work.id}/claims/${work.claim}`;
  const put = { token: work.token, body: bundle };
  await site.call(`PUT ${path}/access`, put);
  const body = {
    handle: { infra: "x-17" },
    message: `login with ${secrets[1]} failed`,
    progress: 0.4,
    apiUrl: `https://me:${secrets[1]}@api.example.com:6443`,
    version: `4.20 ${secrets[1]}`,
    stuck: [`volume of AKIAIOSFODNN7EXAMPLE`],
  };
  const answer = await site.call(`POST ${path}/report`, { token: work.token, body });
  expect([answer.status, answer.body]).toEqual([200, { wanted: "ready" }]);
  const { body: shown } = await site.call(`GET /v1/clusters/${work.resource}`);
  expect(shown).toMatchObject({
    message: "login with [hidden] failed",
    progress: 0.4,
    apiUrl: "https://me:[hidden]@api.example.com:6443",
    version: "4.20 [hidden]",
  });
  expect(JSON.stringify(shown)).not.toContain("infra");
  expect(JSON.stringify(site.journal.appends)).toContain("volume of [hidden]");
  const wrong = { token: work.token, body: { progress: 2 } };
  expect((await site.call(`POST ${path}/report`, wrong)).status).toBe(400);
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  expect((await site.call(`POST ${path}/report`, { token: lease.token ?? "x", body })).status).toBe(
    403,
  );
});

test("a worker says why it failed, and that is masked too", async () => {
  await using site = await clusterSite(running);
  const work = await site.take("creating");
  if (work === undefined) throw new Error("nothing to do");
  const { id, claim, token, resource } = work;
  await site.call(`PUT /v1/leases/${id}/claims/${claim}/access`, { token, body: bundle });
  const body = { failure: `${secrets[1]} was refused, AKIAIOSFODNN7EXAMPLE too` };
  expect((await site.call(`DELETE /v1/leases/${id}`, { token, body })).status).toBe(204);
  const shown = await site.call(`GET /v1/clusters/${resource}`);
  expect(shown.body).toMatchObject({ message: "[hidden] was refused, [hidden] too", failures: 1 });
  const journal = JSON.stringify(site.journal.appends);
  for (const secret of [...secrets, "AKIA"]) expect(journal).not.toContain(secret);
});

test("logs are stored by the worker, masked, and read by whoever may", async () => {
  await using site = await clusterSite(running);
  const work = await site.take("creating");
  if (work === undefined) throw new Error("nothing to do");
  const path = `PUT /v1/leases/${work.id}/claims/${work.claim}/logs`;
  await site.vault.access.put("x.1", bundle);
  const text = `${"line\n".repeat(30_000)}token: ${secrets[0]}\nthe end`;
  const stored = await site.call(path, { token: work.token, body: { why: "create failed", text } });
  expect(stored.status).toBe(204);
  const { body, text: answer } = await site.call(`GET /v1/clusters/${work.resource}/logs`);
  expect(body).toMatchObject({ entries: [{ why: "create failed" }] });
  expect(answer).toContain("the end");
  expect(answer).not.toContain(secrets[0]);
  expect((await site.call("GET /v1/clusters/none/logs")).body).toEqual({
    name: "none",
    entries: [],
  });
  const huge = { why: "x", text: "y".repeat(1_100_000) };
  const refused = await site.call(path, { token: work.token, body: huge });
  expect([refused.status, asProblem(refused).detail]).toEqual([
    413,
    "Cannot read the body: it has more than 1048576 bytes",
  ]);
});

test("access that is made for one lease is for its fence only", async () => {
  await using site = await clusterSite(running);
  const name = await site.make();
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  const [claim] = lease.claims;
  const { instance } = (await site.call(`GET /v1/clusters/${name}`)).body as { instance: string };
  const put = (more: object) =>
    site.call(`PUT /v1/clusters/${name}/access`, {
      body: { kubeconfig: "minted: yes", instance, fence: claim?.fence, ...more },
    });
  expect((await put({ fence: 1 })).status).toBe(409);
  expect((await put({ instance: "ocp-1.0" })).status).toBe(409);
  expect((await put({})).status).toBe(204);
  const access = await site.call(`GET /v1/leases/${lease.id}/claims/${claim?.id}/access`, lease);
  expect(access.body).toMatchObject({ kubeconfig: "minted: yes", password: null });
  // The clock of a worker, or of the hub, may be hours behind.
  const expiresAt = new Date(site.clock.now() - 7_200_000).toISOString();
  expect((await put({ expiresAt, lastsSeconds: 600 })).status).toBe(204);
  const lasting = await site.call(`GET /v1/leases/${lease.id}/claims/${claim?.id}/access`, lease);
  const endsAt = new Date(site.clock.now() + 600_000).toISOString();
  expect(lasting.body).toMatchObject({ expiresAt: endsAt });
  await site.call(`DELETE /v1/leases/${lease.id}`, lease);
  expect((await put({})).status).toBe(409);
});

test("a cluster that is gone outside is reported with its instance", async () => {
  await using site = await clusterSite(running);
  const name = await site.make();
  const { instance } = (await site.call(`GET /v1/clusters/${name}`)).body as { instance: string };
  const lost = (body: object) => site.call(`POST /v1/clusters/${name}/lost`, { body });
  expect((await lost({ instance: "another", why: "gone" })).status).toBe(204);
  expect((await site.call(`GET /v1/clusters/${name}`)).body).toMatchObject({ state: "free" });
  expect((await lost({ instance, why: "absent at password=hunter2-abc" })).status).toBe(204);
  const { body } = await site.call(`GET /v1/clusters/${name}`);
  expect(body).not.toMatchObject({ state: "free" });
  expect(JSON.stringify(site.journal.appends)).not.toContain("hunter2-abc");
});
