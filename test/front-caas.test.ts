/**
 * ClusterTemplateInstances that Berth serves: a real API server with its controllers, kubectl, and a server with the
 * rights of deploy/caas that crashes and is cut off.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FrontWorld, grantedRights, type Seen } from "./front-world.ts";
import { noControllers, patienceMs } from "./kube-binaries.ts";
import { rightOf } from "./kube-rights.ts";
import { sharedCluster } from "./shared-cluster.ts";

const timeout = 40_000;
const cluster = sharedCluster();
const start = (options?: Parameters<typeof FrontWorld.start>[1]) =>
  FrontWorld.start(cluster, options);

const calls = (world: FrontWorld, verb: string) =>
  readFileSync(join(world.world, "calls"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`${verb} `));

const made = (world: FrontWorld) => new Set(calls(world, "create"));

async function phaseOf(world: FrontWorld, name: string): Promise<string | undefined> {
  return (await world.object("cti", name))?.status?.phase;
}

const reaches = (world: FrontWorld, name: string, phase: string) =>
  expect.poll(() => phaseOf(world, name), { timeout }).toBe(phase);

const gone = (world: FrontWorld, kind: string, name: string) =>
  expect.poll(() => world.object(kind, name), { timeout }).toBe(undefined);

const decoded = (secret: Seen | undefined, key: string) =>
  Buffer.from(secret?.data?.[key] ?? "", "base64").toString();

describe.skipIf(noControllers)("a ClusterTemplateInstance", { timeout: patienceMs }, () => {
  test("becomes a cluster, and goes when the cluster is gone", async () => {
    await using world = await start();
    const user = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "users" },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "cluster-templates-user",
      },
      subjects: [
        { kind: "ServiceAccount", name: "ci", namespace: world.namespace },
        { kind: "ServiceAccount", name: "ci", namespace: "elsewhere" },
        { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "ann" },
        { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "ann" },
      ],
    };
    await world.create(user);
    const parameters = [{ name: "workers", value: "3" }];
    await world.instance("mine", { parameters });
    await world.kubectl("wait", "cti/mine", "--for=condition=Ready", "--timeout=20s");

    const found = await world.object("cti", "mine");
    expect(found?.status).toMatchObject({
      phase: "Ready",
      kubeconfig: { name: "mine-admin-kubeconfig" },
      adminPassword: { name: "mine-admin-password" },
      apiServerURL: expect.stringMatching(/^https:\/\/.*:6443$/),
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: "ClusterDefinitionCreated", status: "True" }),
        expect.objectContaining({ type: "ClusterInstallSucceeded", status: "True" }),
        expect.objectContaining({ type: "Ready", status: "True" }),
      ]),
    });
    const [lease] = await world.leases();
    expect(lease).toMatchObject({ holder: `${world.namespace}/mine`, space: world.namespace });
    const kubeconfig = await world.object("secret", "mine-admin-kubeconfig");
    expect(decoded(kubeconfig, "kubeconfig")).toMatch(/^token: secret-of-/);
    const password = await world.object("secret", "mine-admin-password");
    expect(decoded(password, "username")).toBe("admin");
    expect(decoded(password, "password")).toMatch(/^password-of-/);

    // Exactly the users of templates may read exactly these.
    const may = (who: string, what: string) =>
      world
        .kubectl("auth", "can-i", "get", what, "--as", who)
        .then(() => true)
        .catch(() => false);
    const account = (where: string) => `system:serviceaccount:${where}:ci`;
    for (const who of ["ann", account(world.namespace), account("elsewhere")]) {
      expect(await may(who, "secret/mine-admin-kubeconfig"), who).toBe(true);
      expect(await may(who, "secret/mine-admin-password"), who).toBe(true);
      expect(await may(who, "secret/another"), who).toBe(false);
      expect(await may(who, "secrets"), who).toBe(false);
    }
    expect(await may("bob", "secret/mine-admin-kubeconfig")).toBe(false);

    // The cluster cannot be destroyed for a while: the instance stays as long.
    await writeFile(join(world.world, "do", "destroy"), "exit 10\n");
    await world.kubectl("delete", "cti", "mine", "--wait=false");
    await expect
      .poll(async () => (await world.object("cti", "mine"))?.status?.message, { timeout })
      .toMatch(/^Waiting until ocp-\d+ is destroyed$/);
    expect(await world.leases()).toEqual([]);
    await writeFile(join(world.world, "do", "destroy"), "");
    await gone(world, "cti", "mine");
    for (const secret of ["mine-admin-kubeconfig", "mine-admin-password"]) {
      await gone(world, "secret", secret);
    }
    expect(made(world).size).toBe(1);
  });

  test("goes forward only, and tells what it waits for", async () => {
    await using world = await start();
    await writeFile(join(world.world, "do", "observe"), 'echo \'{"phase":"creating"}\'; exit 0\n');
    await world.instance("slow");
    const phases: string[] = [];
    await expect
      .poll(
        async () => {
          const phase = (await phaseOf(world, "slow")) ?? "";
          if (phases.at(-1) !== phase) phases.push(phase);
          return phase;
        },
        { timeout, interval: 20 },
      )
      .toBe("ClusterInstalling");
    expect((await world.object("cti", "slow"))?.status?.message).toMatch(/Position 1\. Creating/);
    await writeFile(join(world.world, "do", "observe"), "");
    await expect
      .poll(
        async () => {
          const phase = (await phaseOf(world, "slow")) ?? "";
          if (phases.at(-1) !== phase) phases.push(phase);
          return phase;
        },
        { timeout, interval: 20 },
      )
      .toBe("Ready");
    const order = ["", "Pending", "ClusterInstalling", "Ready"];
    expect(phases).toEqual(order.filter((each) => phases.includes(each)));
    // An operator takes the lease back: that is the end of it, and the access is gone.
    const [lease] = await world.leases();
    await world.client.revoke(lease?.id ?? "", { by: "ops", reason: "needed" });
    await reaches(world, "slow", "Failed");
    await gone(world, "secret", "slow-admin-kubeconfig");
    await expect(
      world.kubectl("wait", "cti/slow", "--for=condition=Ready", "--timeout=1s"),
    ).rejects.toThrow();
  });

  test("is published with its parameters, and wrong ones are refused for good", async () => {
    await using world = await start();
    await expect
      .poll(() => world.object("clustertemplate", world.template), { timeout })
      .toMatchObject({ spec: { cost: 3 } });
    const published = await world.object("clustertemplate", world.template);
    const definition = Object(published?.status?.["clusterDefinition"]) as { schema: string };
    expect(Object.keys(JSON.parse(definition.schema).properties)).toEqual(["version", "workers"]);

    const hostile: Readonly<Record<string, readonly [object, RegExp]>> = {
      unknown: [{ clusterTemplateRef: "no-such-template" }, /no-such-template/],
      "too-many": [{ parameters: [{ name: "workers", value: "7" }] }, /workers/],
      typed: [{ parameters: [{ name: "workers", value: "many\u202e\n\u001b[31m" }] }, /workers/],
      proto: [{ parameters: [{ name: "__proto__", value: "x" }] }, /__proto__/],
      twice: [
        { parameters: [1, 2].map(() => ({ name: "version", value: "1.35" })) },
        /it is there twice/,
      ],
      setup: [{ parameters: [{ name: "a", value: "b", clusterSetup: "c" }] }, /cluster setup/],
      existing: [{ kubeconfigSecretRef: "mine" }, /kubeconfigSecretRef/],
      nameless: [{ parameters: [{ value: "b" }] }, /needs a name and a value/],
    };
    for (const [name, [spec]] of Object.entries(hostile)) await world.instance(name, spec);
    for (const [name, [, message]] of Object.entries(hostile)) {
      await reaches(world, name, "Failed");
      const { status } = (await world.object("cti", name)) ?? {};
      expect(status?.message).toMatch(message);
      expect(status?.message).toMatch(/^[^\p{Cc}\p{Cf}]{1,1024}$/u);
    }
    expect(await world.leases()).toEqual([]);
    await world.kubectl("delete", "cti", "--all", "--timeout=30s");
  });

  test("a Secret of the same name that belongs to others is left alone", async () => {
    await using world = await start();
    const theirs = { apiVersion: "v1", kind: "Secret", metadata: { name: "odd-admin-kubeconfig" } };
    await world.create({ ...theirs, stringData: { mine: "yes" } });
    await world.instance("odd");
    await reaches(world, "odd", "CredentialsFailed");
    const secret = await world.object("secret", "odd-admin-kubeconfig");
    expect(decoded(secret, "mine")).toBe("yes");
    await world.kubectl("delete", "secret", "odd-admin-kubeconfig");
    await reaches(world, "odd", "Ready");
  });

  test("instances that another operator serves are left alone", async () => {
    await using world = await start();
    world.proxy.away = true;
    await world.instance("theirs");
    const status = JSON.stringify({ status: { phase: "ClusterInstalling" } });
    const patch = ["patch", "cti", "theirs", "--subresource=status", "--type=merge", "-p", status];
    await world.kubectl(...patch);
    world.proxy.away = false;
    await world.instance("ours");
    await reaches(world, "ours", "Ready");
    const found = await world.object("cti", "theirs");
    expect(found?.metadata.finalizers).toBe(undefined);
    expect(found?.status).toEqual({ phase: "ClusterInstalling" });
  });

  test("quotas of its namespace hold it back, and only they delete it", async () => {
    await using world = await start();
    const quota = (name: string, allowed: object, more: object = {}) => ({
      apiVersion: "clustertemplate.openshift.io/v1alpha1",
      kind: "ClusterTemplateQuota",
      metadata: { name },
      spec: { allowedTemplates: [{ name: world.template, ...allowed }], ...more },
    });
    const elsewhere = await cluster.namespace();
    const path = ["apis", "clustertemplate.openshift.io", "v1alpha1", "namespaces", elsewhere];
    await cluster.create([...path, "clustertemplatequotas"], quota("q", { deleteAfter: "1ms" }));
    await world.create(quota("q", { count: 1 }, { budget: 3 }));
    await world.instance("first");
    await reaches(world, "first", "Ready");
    await world.instance("second");
    await world.instance("other", { clusterTemplateRef: "another" });
    await reaches(world, "second", "Pending");
    expect((await world.object("cti", "second"))?.status?.message).toMatch(/allows 1 of/);
    await reaches(world, "other", "Failed");
    await world.kubectl("delete", "cti", "first");
    await reaches(world, "second", "Ready");
    const sooner = [{ name: world.template, deleteAfter: "1s" }];
    const change = JSON.stringify({ spec: { allowedTemplates: sooner } });
    await world.kubectl("patch", "ctq", "q", "--type=merge", "-p", change);
    await gone(world, "cti", "second");
    await expect.poll(() => world.leases(), { timeout }).toEqual([]);
  });

  test("a clock that is hours ahead deletes none before its time", async () => {
    await using world = await start({ hoursAhead: 3 });
    await world.create({
      ...{ apiVersion: "clustertemplate.openshift.io/v1alpha1", kind: "ClusterTemplateQuota" },
      metadata: { name: "q" },
      spec: { allowedTemplates: [{ name: world.template, deleteAfter: "2h" }] },
    });
    await world.instance("young");
    await reaches(world, "young", "Ready");
  });

  test("quotas count an instance whose request could not be noted on it", async () => {
    await using world = await start();
    await world.create({
      ...{ apiVersion: "clustertemplate.openshift.io/v1alpha1", kind: "ClusterTemplateQuota" },
      metadata: { name: "q" },
      spec: { allowedTemplates: [{ name: world.template, count: 1 }] },
    });
    // The first write is its finalizer; the request is made before the second.
    let writes = 0;
    world.proxy.refuses = ({ method, path }) => {
      const isWrite = method === "PATCH" && /clustertemplateinstances\/first(?:\?|$)/.test(path);
      return isWrite && ++writes > 1 ? 409 : undefined;
    };
    await world.instance("first");
    await expect.poll(() => writes, { timeout }).toBeGreaterThan(1);
    await world.instance("second");
    await reaches(world, "second", "Pending");
    expect((await world.object("cti", "second"))?.status?.message).toMatch(/allows 1 of/);
    world.proxy.refuses = () => undefined;
    await reaches(world, "first", "Ready");
    expect(made(world).size).toBe(1);
  });

  test("the API server vouches for the requester", async () => {
    await using world = await start();
    const file = new URL("../deploy/caas/requester.yaml", import.meta.url).pathname;
    await world.kubectl("apply", "-f", file);
    try {
      const requester = "clustertemplates.openshift.io/requester";
      const instance = (name: string, who: string, template = world.template) =>
        world.create({
          ...{ apiVersion: "clustertemplate.openshift.io/v1alpha1" },
          kind: "ClusterTemplateInstance",
          metadata: { name, annotations: { [requester]: who } },
          spec: { clusterTemplateRef: template },
        });
      // It takes a moment until the policy is in force.
      let tries = 0;
      const forge = () =>
        instance(`forged-${++tries}`, "somebody-else", "none").then(() => "made", String);
      await expect.poll(forge, { timeout }).toContain("is not the name of the caller");
      await instance("own", "admin");
      await reaches(world, "own", "Ready");
      const own = (await world.leases()).find(({ holder }) => holder.endsWith("/own"));
      expect(own?.labels).toMatchObject({ requester: "admin" });
      const { items } = await world.client.audit({ limit: 50 });
      const who = { way: "object", by: "admin", space: world.namespace };
      expect(items).toContainEqual(expect.objectContaining(who));
      expect(items.filter(({ way, by }) => way === "worker" && by === world.front)).toEqual([]);
      const change = `${requester}=another`;
      await expect(world.kubectl("annotate", "--overwrite", "cti", "own", change)).rejects.toThrow(
        "cannot be changed",
      );
    } finally {
      await world.kubectl("delete", "-f", file);
    }
  });
});

describe.skipIf(noControllers)("the server of the instances", { timeout: patienceMs }, () => {
  test("crashes after every second write, and makes one cluster for each instance", async () => {
    await using world = await start();
    let writes = 0;
    let crashes = 0;
    let crashesMax = 5;
    let arrived = Promise.withResolvers<void>();
    /** The write arrives, its reply does not, and the server is gone. */
    world.proxy.loses = ({ method }) => {
      if (method === "GET" || crashes >= crashesMax || writes++ % 2 === 1) return false;
      arrived.resolve();
      return true;
    };
    await world.instance("crashed");
    /** One crash; false: all is done before another write has come. */
    const step = async (done: Promise<void>): Promise<boolean> => {
      const next = arrived.promise.then(() => true);
      if (!(await Promise.race([next, done.then(() => false)]))) return false;
      arrived = Promise.withResolvers();
      crashes += 1;
      await world.crash();
      return true;
    };
    const ready = reaches(world, "crashed", "Ready");
    while (crashes < crashesMax && (await step(ready)));
    await ready;
    expect(await world.leases()).toHaveLength(1);
    crashesMax = 8;
    await world.kubectl("delete", "cti", "crashed", "--wait=false");
    const away = gone(world, "cti", "crashed");
    while (crashes < crashesMax && (await step(away)));
    await away;
    expect(crashes).toBeGreaterThan(5);
    expect(made(world).size).toBe(1);
    await expect.poll(() => world.leases(), { timeout }).toEqual([]);
  });

  test("loses every third reply, conflicts, and is told that its watch is too old", async () => {
    await using world = await start();
    let writes = 0;
    world.proxy.loses = ({ method, path }) =>
      method !== "GET" && !path.includes("watch") && writes++ % 3 === 0;
    let gaps = 0;
    world.proxy.refuses = ({ path }) => {
      if (!path.includes("watch=true") || !path.includes("clustertemplateinstances"))
        return undefined;
      return gaps++ % 2 === 0 ? 410 : undefined;
    };
    // Somebody else writes to the objects, just before the server does.
    let conflicts = 0;
    world.proxy.before = async ({ method, path }) => {
      if (method !== "PATCH" || !path.includes("clustertemplateinstances") || conflicts >= 6)
        return;
      const label = `seen=${++conflicts}`;
      await world.kubectl("label", "--overwrite", "cti", "--all", label).catch(() => "");
    };
    const names = ["a", "b", "c"];
    for (const name of names) await world.instance(name);
    for (const name of names) await reaches(world, name, "Ready");
    world.proxy.cut();
    await world.kubectl("delete", "cti", "--all", "--wait=false");
    for (const name of names) await gone(world, "cti", name);
    expect([gaps > 0, conflicts]).toEqual([true, 6]);
    expect(made(world).size).toBe(3);
    await expect.poll(() => world.leases(), { timeout }).toEqual([]);
  });

  test("deletes no instance that gets its cluster in the last moment before the cluster is gone", async () => {
    await using world = await start();
    await writeFile(join(world.world, "do", "observe"), 'echo \'{"phase":"creating"}\'; exit 0\n');
    // The first write is its finalizer. Nothing else is written on it, so its request is not noted.
    const isWrite = ({ method, path }: { method: string; path: string }) =>
      method === "PATCH" && /clustertemplateinstances\/late(?:\?|$)/.test(path);
    let writes = 0;
    world.proxy.refuses = (passing) => (isWrite(passing) && ++writes > 1 ? 409 : undefined);
    await world.instance("late");
    await expect.poll(() => writes, { timeout }).toBeGreaterThan(1);
    await world.server.stop("SIGKILL");
    await world.kubectl("delete", "cti", "late", "--wait=false");
    // The server finds its request waiting, and is then so slow that the request is granted.
    const [arrived, granted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    world.proxy.refuses = () => undefined;
    world.proxy.before = async (passing) => {
      if (!isWrite(passing)) return;
      arrived.resolve();
      await granted.promise;
    };
    await world.server.start();
    await arrived.promise;
    await writeFile(join(world.world, "do", "destroy"), "exit 10\n");
    await writeFile(join(world.world, "do", "observe"), "");
    await expect.poll(() => world.leases(), { timeout }).toHaveLength(1);
    granted.resolve();
    await expect
      .poll(async () => (await world.object("cti", "late"))?.status?.message, { timeout })
      .toMatch(/^Waiting until ocp-\d+ is destroyed$/);
    await writeFile(join(world.world, "do", "destroy"), "");
    await gone(world, "cti", "late");
    await expect.poll(() => world.leases(), { timeout }).toEqual([]);
    expect(made(world).size).toBe(1);
  });

  test("keeps leases while the API server is away, and ends those whose objects have gone", async () => {
    await using world = await start();
    await world.instance("kept");
    await reaches(world, "kept", "Ready");
    world.proxy.away = true;
    world.proxy.cut();
    const [before] = await world.leases();
    await world.crash();
    await expect
      .poll(async () => (await world.leases())[0]?.expiresAt, { timeout })
      .not.toBe(before?.expiresAt);
    // Its finalizer is taken away by hand meanwhile.
    await world.kubectl("delete", "cti", "kept", "--wait=false");
    const bare = ["--type=merge", "-p", '{"metadata":{"finalizers":[]}}'];
    await world.kubectl("patch", "cti", "kept", ...bare);
    expect(await world.leases()).toHaveLength(1);
    world.proxy.away = false;
    await world.crash(); // It looks at all of its leases at once.
    await expect.poll(() => world.leases(), { timeout }).toEqual([]);
  });
});

describe.skipIf(noControllers)("the rights of deploy/caas", { timeout: patienceMs }, () => {
  /** All that Berth does to the objects of an API server. */
  async function live(world: FrontWorld): Promise<void> {
    await world.instance("one");
    await reaches(world, "one", "Ready");
    await world.kubectl("delete", "cti", "one", "--wait=false");
    await gone(world, "cti", "one");
  }

  test("are enough, and every one of them that an instance needs is used", async () => {
    await using world = await start();
    await live(world);
    const used = new Set(world.proxy.seen.map(rightOf));
    for (const right of used) expect(grantedRights, right).toContain(right);
    expect([...used]).toEqual(
      expect.arrayContaining([
        ...["list", "watch", "patch"].map((verb) => `${verb} clustertemplateinstances`),
        ...["get secrets", "create secrets", "get roles", "create roles"],
        ...["list rolebindings", "get rolebindings", "create rolebindings"],
      ]),
    );
  });

  /** What others have changed is written again, what is over is taken back, and the instance goes in the end. */
  async function repairs(world: FrontWorld): Promise<void> {
    const merge = (kind: string, name: string, change: object) =>
      world.kubectl("patch", kind, name, "--type=merge", "-p", JSON.stringify(change));
    const [secret, role, binding] = [
      ...["one-admin-kubeconfig", "one-role-managed", "one-rolebinding-managed"],
    ] as const;
    const right = await world.object("secret", secret);
    await merge("secret", secret, { data: { kubeconfig: "" } });
    await merge("role", role, { rules: [] });
    await merge("rolebinding", "users", {
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "bob" }],
    });
    await world.kubectl("label", "cti", "one", "look=again");
    await expect
      .poll(async () => (await world.object("secret", secret))?.data, { timeout })
      .toEqual(right?.data);
    await expect
      .poll(async () => world.kubectl("get", "role", role, "-o", "json"), { timeout })
      .toContain(secret);
    await expect
      .poll(async () => world.kubectl("get", "rolebinding", binding, "-o", "json"), { timeout })
      .toContain('"bob"');
    const leases = await world.leases();
    const lease = leases.find(({ holder }) => holder.endsWith("/one"));
    const why = { reason: "over", by: "admin", gone: true } as const;
    if (lease !== undefined) await world.client.revoke(lease.id, why);
    await gone(world, "secret", secret);
    await world.create({
      ...{ apiVersion: "clustertemplate.openshift.io/v1alpha1", kind: "ClusterTemplateQuota" },
      metadata: { name: "q" },
      spec: { allowedTemplates: [{ name: world.template, deleteAfter: "1s" }] },
    });
    await gone(world, "cti", "one");
  }

  /** Templates are made, corrected and removed when a server starts. */
  async function publishes(world: FrontWorld): Promise<void> {
    const costOf = async () => (await world.object("ct", world.template))?.spec["cost"];
    await world.kubectl("delete", "ct", world.template);
    await world.crash();
    await expect.poll(costOf, { timeout }).toBe(3);
    const old = `old-${world.namespace}`;
    const labels = { "app.kubernetes.io/managed-by": "berth", "berth/front": world.front };
    await cluster.create(["apis", "clustertemplate.openshift.io", "v1alpha1", "clustertemplates"], {
      ...{ apiVersion: "clustertemplate.openshift.io/v1alpha1", kind: "ClusterTemplate" },
      ...{ metadata: { name: old, labels }, spec: { clusterDefinition: "berth", cost: 1 } },
    });
    await world.kubectl("patch", "ct", world.template, "--type=merge", "-p", '{"spec":{"cost":9}}');
    await world.crash();
    await expect.poll(costOf, { timeout }).toBe(3);
    await gone(world, "ct", old);
  }

  test("each of them is used; without one the call fails, is told, and is made again", async () => {
    await using world = await start();
    const refused = new Set<string>();
    // Each right is missing when it is first used, by whichever object.
    world.proxy.refuses = (passing) => {
      const right = rightOf(passing);
      if (refused.has(right) || !grantedRights.includes(right)) return undefined;
      refused.add(right);
      return 403;
    };
    world.proxy.cut();
    const users = { apiGroup: "rbac.authorization.k8s.io", name: "cluster-templates-user" };
    const subject = { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "ann" };
    await world.create({
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding" },
      ...{ metadata: { name: "users" }, roleRef: { ...users, kind: "ClusterRole" } },
      subjects: [subject],
    });
    await world.instance("one");
    await world.create({
      ...{ apiVersion: "toolchain.dev.openshift.com/v1alpha1", kind: "SpaceRequest" },
      ...{ metadata: { name: "env" }, spec: { tierName: "tier" } },
    });
    await world.create({
      ...{ apiVersion: "eaas.konflux-ci.dev/v1alpha1", kind: "Namespace" },
      metadata: { name: "claim" },
      spec: { writeConnectionSecretToRef: { name: "connection" } },
    });
    const claim = "namespaces.eaas.konflux-ci.dev/claim";
    for (const each of ["cti/one", "spacerequest/env", claim]) {
      await world.kubectl("wait", each, "--for=condition=Ready", "--timeout=200s");
    }
    expect(world.server.log).toContain("denied the request");
    await repairs(world);
    await publishes(world);
    await world.kubectl("delete", "spacerequest/env", claim, "--wait=false");
    await gone(world, "spacerequest", "env");
    expect(grantedRights.filter((right) => !refused.has(right))).toEqual([]);
  });
});
