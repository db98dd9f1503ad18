/** Secrets are erased when they are no longer needed (X3, B2). */
import { expect, test } from "vitest";
import { clusterPool } from "../core/clusters/clusters.suite.ts";
import { bundle, clusterSite } from "../http/clusters/clusters-site.suite.ts";
import { askBody, asLease, asRequest } from "../http/test-site.suite.ts";
import { writeRef } from "../vault/space-credentials.ts";
import { VaultUpkeep } from "./vault-upkeep.ts";

const later = () => Date.now() + 120_000;

async function instanceOf(site: Awaited<ReturnType<typeof clusterSite>>, name: string) {
  const { body } = await site.call(`GET /v1/clusters/${name}`);
  return (body as { instance: string }).instance;
}

test("the access to a cluster is wiped when it is released, before it is destroyed", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 2, running: 2 })]);
  const upkeep = new VaultUpkeep(site.vault, site.broker, { delayMs: 1_000_000 });
  const [one, other] = [await site.make(), await site.make()];
  const instances = await Promise.all([one, other].map((name) => instanceOf(site, name)));
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  const used = lease.claims[0]?.resource === one ? 0 : 1;
  await upkeep.run();
  for (const instance of instances) expect(await site.vault.access.open(instance)).toEqual(bundle);
  await site.call(`DELETE /v1/leases/${lease.id}`, lease);
  await upkeep.run();
  expect(await site.vault.access.open(instances[used] ?? "")).toBeUndefined();
  expect(await site.vault.access.open(instances[1 - used] ?? "")).toEqual(bundle);
  await upkeep.close();
});

test("the access to a cluster that an operator holds for debugging is wiped: nobody can read it", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  const upkeep = new VaultUpkeep(site.vault, site.broker, { delayMs: 1_000_000 });
  const name = await site.make();
  const instance = await instanceOf(site, name);
  const body = { for: "2h", by: "ann", reason: "a look" };
  const held = await site.call(`PUT /v1/clusters/${name}/hold`, { body });
  expect(held.body).toMatchObject({ state: "used", hold: { by: "ann", why: "a look" } });
  await upkeep.run();
  expect(await site.vault.access.open(instance)).toBeUndefined();
  await upkeep.close();
});

test("a release is noticed by itself, and what a crash has left is erased at the start", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 1, running: 1 })]);
  await site.vault.access.put("gone.1", bundle);
  const upkeep = new VaultUpkeep(site.vault, site.broker, { delayMs: 1 });
  await expect.poll(() => site.vault.access.open("gone.1")).toBeUndefined();
  const instance = await instanceOf(site, await site.make());
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("ocp") }));
  expect(await site.vault.access.open(instance)).toEqual(bundle);
  await site.call(`DELETE /v1/leases/${lease.id}`, lease);
  await expect.poll(() => site.vault.access.open(instance)).toBeUndefined();
  await upkeep.close();
});

test("deleted credentials stay for waiting requests and clusters until these are destroyed", async () => {
  await using site = await clusterSite([clusterPool("byo", { template: "byo-aws" })]);
  const upkeep = new VaultUpkeep(site.vault, site.broker, { delayMs: 1_000_000, now: later });
  const { credentials } = site.vault;
  const ref = await credentials.put("", "aws", { KEY: "value-1" });
  const lease = asRequest(await site.call("POST /v1/leases", { body: askBody("byo") }));
  await site.call("DELETE /v1/credentials/aws");
  const kept = async () => {
    await upkeep.run();
    return credentials.open(ref);
  };
  expect(await kept(), `${writeRef(ref)} is waited for`).toEqual({ KEY: "value-1" });
  const name = await site.make("byo");
  expect(await kept()).toEqual({ KEY: "value-1" });
  await site.call(`DELETE /v1/leases/${lease.id}`, lease);
  expect(await kept(), `${name} is not destroyed yet`).toEqual({ KEY: "value-1" });
  const work = await site.take("destroying", "byo");
  expect(await kept()).toEqual({ KEY: "value-1" });
  await site.call(`DELETE /v1/leases/${work?.id}?state=tombstone`, { token: work?.token ?? "" });
  expect(await kept()).toBeUndefined();
  await upkeep.close();
});

test("a vault that fails is reported once, and lending goes on", async () => {
  await using site = await clusterSite();
  const failures: unknown[] = [];
  Object.assign(site.vault.access, { keepOnly: () => Promise.reject(new Error("disk")) });
  const upkeep = new VaultUpkeep(site.vault, site.broker, {
    delayMs: 1_000_000,
    failed: (cause) => failures.push(cause),
  });
  await upkeep.run();
  await upkeep.run();
  expect(failures).toHaveLength(1);
  await upkeep.close();
});
