/** SpaceRequests and claims for namespaces, which Berth serves with namespaces of a real API server. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FrontWorld, type Seen } from "./front-world.ts";
import { noControllers, patienceMs } from "./kube-binaries.ts";
import { sharedCluster } from "./shared-cluster.ts";

const timeout = 40_000;
const cluster = sharedCluster();

const decoded = (secret: Seen | undefined, key: string) =>
  Buffer.from(secret?.data?.[key] ?? "", "base64").toString();

/** What the tenant may do with the access that it got. */
async function asTenant(world: FrontWorld, kubeconfig: string, ...args: readonly string[]) {
  const file = join(world.world, "tenant.kubeconfig");
  await writeFile(file, kubeconfig, { mode: 0o600 });
  return world.kubectl("--kubeconfig", file, "-n", "", ...args);
}

const gone = (world: FrontWorld, kind: string, name: string) =>
  expect.poll(() => world.object(kind, name), { timeout }).toBe(undefined);

describe.skipIf(noControllers)("a space", { timeout: patienceMs }, () => {
  test("of a SpaceRequest is a namespace with a token that ends, and goes with it", async () => {
    await using world = await FrontWorld.start(cluster);
    await world.create({
      ...{ apiVersion: "toolchain.dev.openshift.com/v1alpha1", kind: "SpaceRequest" },
      ...{ metadata: { name: "env" }, spec: { tierName: "tier" } },
    });
    await world.kubectl("wait", "spacerequest/env", "--for=condition=Ready", "--timeout=40s");
    const found = await world.object("spacerequest", "env");
    const list = found?.status?.["namespaceAccess"] ?? [];
    const [access] = list as readonly { name: string; secretRef: string }[];
    expect(found?.status).toMatchObject({ targetClusterURL: cluster.url });
    const secret = await world.object("secret", access?.secretRef ?? "");
    const kubeconfig = decoded(secret, "kubeconfig");
    const may = (...what: readonly string[]) =>
      asTenant(world, kubeconfig, "auth", "can-i", ...what, "-n", access?.name ?? "").then(
        () => true,
        () => false,
      );
    expect(await may("create", "pods")).toBe(true);
    expect(await may("create", "rolebindings")).toBe(false);
    expect(await may("create", "serviceaccounts", "--subresource=token")).toBe(false);
    const { token } = JSON.parse(kubeconfig).users[0].user as { token: string };
    const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(exp * 1_000).toBeLessThan(Date.now() + 2 * 3_600_000);

    await world.kubectl("delete", "spacerequest", "env", "--wait=false");
    await gone(world, "spacerequest", "env");
    await gone(world, "secret", access?.secretRef ?? "");
    const left = await world.kubectl("get", "namespace", access?.name ?? "", "--ignore-not-found");
    expect(left).toBe("");
  });

  test("has a token that is renewed before it ends, also after nobody has looked for longer", async () => {
    await using world = await FrontWorld.start(cluster, { spacesToo: true });
    // No API server grants less than ten minutes: this one says that its tokens end at once.
    let endsAtMs = 0;
    world.proxy.rewrites = ({ method, path }) => {
      if (method !== "POST" || !path.endsWith("/token")) return undefined;
      return (text) => {
        const reply = JSON.parse(text) as { status: { expirationTimestamp: string } };
        endsAtMs = Date.now() + 2_000;
        const expirationTimestamp = new Date(endsAtMs).toISOString();
        return JSON.stringify({ ...reply, status: { ...reply.status, expirationTimestamp } });
      };
    };
    await world.create({
      ...{ apiVersion: "toolchain.dev.openshift.com/v1alpha1", kind: "SpaceRequest" },
      ...{ metadata: { name: "env" }, spec: { tierName: "tier" } },
    });
    await world.kubectl("wait", "spacerequest/env", "--for=condition=Ready", "--timeout=200s");
    const kubeconfig = async () =>
      decoded(await world.object("secret", "env-access"), "kubeconfig");
    const seen = new Set<string>();
    const another = async () => {
      const now = await kubeconfig();
      if (now === "" || seen.has(now)) return undefined;
      // The way through the proxy has no TLS, and kubectl sends no token there.
      const { token } = JSON.parse(now).users[0].user as { token: string };
      expect(await world.kubectl("--token", token, "auth", "whoami")).toContain(":berth");
      seen.add(now);
      return "another";
    };
    for (let time = 0; time < 3; time++) {
      await expect.poll(another, { timeout: patienceMs / 4 }).toBe("another");
    }
    // Nobody renews it while the server is away: the last one has ended when it is back.
    await world.server.stop("SIGKILL");
    seen.add(await kubeconfig());
    await expect.poll(() => Date.now() > endsAtMs, { timeout }).toBe(true);
    await world.server.start();
    await expect.poll(another, { timeout: patienceMs / 4 }).toBe("another");
    const [lease] = await world.leases();
    expect(lease).toMatchObject({ holder: `${world.namespace}/env` });
  });

  test("is one, with one of each object, although the server dies after every write", async () => {
    await using world = await FrontWorld.start(cluster);
    let crashes = 0;
    let crashesMax = 5;
    let arrived = Promise.withResolvers<void>();
    /** The write arrives, its reply does not, and the server is gone. */
    world.proxy.loses = ({ method, path }) => {
      if (method === "GET" || !/spacerequests|secrets/.test(path) || crashes >= crashesMax)
        return false;
      arrived.resolve();
      return true;
    };
    const crashUntil = async (isDone: () => Promise<boolean>) => {
      const done = expect.poll(isDone, { timeout: patienceMs / 2 }).toBe(true);
      let over = false;
      const end = Promise.resolve(done).finally(() => {
        over = true;
      });
      while (!over) {
        await Promise.race([arrived.promise, end]);
        if (over) break;
        arrived = Promise.withResolvers();
        crashes += 1;
        await world.crash();
      }
      await end;
    };
    await world.create({
      ...{ apiVersion: "toolchain.dev.openshift.com/v1alpha1", kind: "SpaceRequest" },
      ...{ metadata: { name: "env" }, spec: { tierName: "tier" } },
    });
    const ready = async () =>
      (await world.object("spacerequest", "env"))?.status?.conditions?.find(
        ({ type }) => type === "Ready",
      )?.status === "True";
    await crashUntil(ready);
    expect(crashes).toBeGreaterThan(2);
    expect(await world.leases()).toHaveLength(1);
    const mine = ["-l", `berth-space=${world.namespace}`, "-o", "name"];
    const namespaces = async () => world.kubectl("get", "namespaces", ...mine);
    await expect
      .poll(async () => (await namespaces()).trim().split("\n"), { timeout })
      .toEqual([expect.stringMatching(/^namespace\/berth-/)]);
    const secrets = (await world.kubectl("get", "secrets", "-o", "name")).trim().split("\n");
    expect(secrets).toEqual(["secret/env-access"]);
    // Each start makes a new token; the tenant has one that works.
    const whoami = async () => {
      const secret = await world.object("secret", "env-access");
      return asTenant(world, decoded(secret, "kubeconfig"), "auth", "whoami");
    };
    await expect.poll(whoami, { timeout }).toContain(":berth");
    crashesMax = crashes + 3;
    await world.kubectl("delete", "spacerequest", "env", "--wait=false");
    await crashUntil(async () => (await world.object("spacerequest", "env")) === undefined);
    await expect.poll(namespaces, { timeout }).toBe("");
    await gone(world, "secret", "env-access");
    await expect.poll(() => world.leases(), { timeout }).toEqual([]);
  });

  test("of the claim Namespace has a connection Secret, and an unknown tier fails", async () => {
    await using world = await FrontWorld.start(cluster);
    const claim = { apiVersion: "eaas.konflux-ci.dev/v1alpha1", kind: "Namespace" };
    const spec = { writeConnectionSecretToRef: { name: "connection" } };
    await world.create({ ...claim, metadata: { name: "claim" }, spec });
    await world.create({ ...claim, metadata: { name: "nowhere" }, spec: {} });
    await world.create({
      ...{ apiVersion: "toolchain.dev.openshift.com/v1alpha1", kind: "SpaceRequest" },
      ...{ metadata: { name: "env" }, spec: { tierName: "no-such-tier" } },
    });
    const kind = "namespaces.eaas.konflux-ci.dev";
    await world.kubectl("wait", `${kind}/claim`, "--for=condition=Ready", "--timeout=40s");
    const secret = await world.object("secret", "connection");
    const keys = ["apiserver", "kubeconfig", "namespace", "serviceaccount", "token"];
    expect(Object.keys(secret?.data ?? {}).sort()).toEqual(keys);
    const [apiserver, namespace, account] = ["apiserver", "namespace", "serviceaccount"].map(
      (key) => decoded(secret, key),
    );
    expect([apiserver, account]).toEqual([cluster.url, "berth"]);
    const whoami = await asTenant(world, decoded(secret, "kubeconfig"), "auth", "whoami");
    expect(whoami).toContain(`system:serviceaccount:${namespace}:berth`);
    const readyOf = async (what: string, name: string) =>
      (await world.object(what, name))?.status?.conditions?.find(({ type }) => type === "Ready");
    await expect
      .poll(() => readyOf("spacerequest", "env"), { timeout })
      .toMatchObject({ status: "False", reason: "UnableToProvision" });
    await expect
      .poll(() => readyOf(kind, "nowhere"), { timeout })
      .toMatchObject({ status: "False", reason: "Unavailable" });
    await world.kubectl("delete", `${kind}/claim`, `${kind}/nowhere`, "--wait=false");
    await gone(world, kind, "claim");
    await gone(world, "secret", "connection");
  });
});
