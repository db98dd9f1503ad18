import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultPhaseLimits } from "../../core/model/cluster.ts";
import { externalName } from "../../drivers/names.ts";
import { Redactor } from "../../vault/redactor.ts";
import { maskOf } from "../../vault/secret-patterns.ts";
import { ScriptedSite } from "./scripted-site.suite.ts";

let site: ScriptedSite;
beforeEach(async () => {
  site = await ScriptedSite.open();
});
afterEach(() => site[Symbol.asyncDispose]());

const limits = { ...defaultPhaseLimits };

describe("a provisioner", () => {
  test("keeps a pool: makes clusters, puts the rest to sleep, and stores their access first", async () => {
    await site.configure({ size: 2, running: 1 });
    await site.untilStock("kube-1 free, kube-2 hibernated");
    const { instance, handle, apiUrl, version, external } = await site.cluster("kube-1");
    expect(site.access.get(instance)).toMatchObject({
      kubeconfig: `token: secret-of-${instance}\n`,
      password: `password-of-${instance}`,
    });
    expect(JSON.parse(handle ?? "")).toEqual({ folder: external });
    expect({ apiUrl, version }).toEqual({
      apiUrl: `https://${external}.example:6443`,
      version: "1.35",
    });
    expect(await site.world.calls("create")).toHaveLength(2);
    const order = (await site.world.calls()).filter((call) => call.includes(external));
    expect(order.map((call) => call.split(" ")[0]).slice(0, 2)).toEqual(["observe", "create"]);
  });

  test("says in the journal that it was the worker", async () => {
    await site.configure({ size: 1, running: 1 });
    await site.untilStock("kube-1 free");
    const journalled = await site.journalled();
    const bySelf = '"from":{"way":"worker","by":"berth-provisioner"}';
    const eventsOf = (type: string) =>
      journalled.split('{"type":').filter((text) => text.startsWith(`"${type}"`));
    for (const type of ["lease-granted", "cluster-reported", "lease-ended"]) {
      expect(eventsOf(type).length, type).toBeGreaterThan(0);
      for (const event of eventsOf(type)) expect(event).toContain(bySelf);
    }
  });

  test("lends on demand, destroys what was used, and makes a new one", async () => {
    await site.configure({ size: 0 });
    const id = await site.ask();
    const first = await site.lent(id);
    const { external } = await site.cluster(first);
    expect(await site.world.clusters()).toEqual([external]);
    await site.release(id);
    await site.until(() => site.world.clusters(), []);
    await site.untilStock("");
    const next = await site.lent(await site.ask());
    expect(next).not.toBe(first);
  });

  test("wakes a sleeping cluster for a request, before it is lent", async () => {
    await site.configure({ size: 1, running: 0 });
    await site.untilStock("kube-1 hibernated");
    // The pool makes a second cluster for its stock meanwhile: whichever is ready first is lent.
    await site.world.before("create", "exit 10");
    expect(await site.lent(await site.ask())).toBe("kube-1");
    expect(await site.world.calls("resume")).toHaveLength(1);
  });

  test("P10: without its credentials it makes no call, and says what is missing", async () => {
    const path = join(site.folder, "aws.ini");
    const credentials = { aws: { from: "file" as const, path } };
    await site.configure({ size: 1 }, site.template({ credentials }));
    await site.until(async () => (await site.cluster("kube-1")).failures, 1);
    expect((await site.cluster("kube-1")).note).toMatch(
      /^Cannot use the template small: the credential aws is missing: ENOENT/,
    );
    expect(await site.world.calls()).toEqual([]);
  });

  test("passes credentials, parameters and pinned values, and no credential as a parameter", async () => {
    const path = join(site.folder, "aws.ini");
    await writeFile(path, "very-secret");
    const credentials = { aws: { from: "file" as const, path } };
    const template = site.template({
      credentials,
      ownCredentials: "aws",
      pinned: { region: "eu" },
    });
    await site.world.before(
      "create",
      `cp "$BERTH_CREDENTIALS" "$WORLD/seen"; printf '%s' "$request" > "$WORLD/request"`,
    );
    const parameters = { version: "4.20", credentials: "team/aws#1" };
    await site.configure({ size: 1, running: 1, parameters }, template);
    await site.untilStock("kube-1 free");
    const read = async (name: string) =>
      JSON.parse(await readFile(join(site.world.folder, name), "utf8"));
    expect(await read("seen")).toEqual({ aws: "very-secret", OWN: "own-credential-value" });
    const { instance } = await site.cluster("kube-1");
    expect(await read("request")).toEqual({
      ...{ name: externalName(instance), instance, template: "small", revision: "r1" },
      parameters: { version: "4.20", region: "eu" },
      tags: {
        ...{ "berth-instance": instance, "berth-resource": "kube-1", "berth-pool": "kube" },
        "berth-space": "team",
      },
    });
  });

  test("a template whose credential is missing is known before a cluster fails, until it is there", async () => {
    const path = join(site.folder, "later.ini");
    const credentials = { aws: { from: "file", path } } as const;
    await site.configure({}, site.template({ credentials }), { probeMs: 20 });
    const unusable = () => site.unusable.map(({ name, why }) => `${name}: ${why}`);
    await expect
      .poll(unusable, { timeout: 40_000 })
      .toEqual([expect.stringMatching(/^small: .*the credential aws is missing.*ENOENT/)]);
    expect(await site.world.calls()).toEqual([]);
    await writeFile(path, "very-secret");
    await expect.poll(unusable, { timeout: 40_000 }).toEqual([]);
  });

  test("a template whose program is missing here is known before a cluster fails", async () => {
    const { how } = site.template();
    const missing = join(site.folder, "driver.sh");
    const gone = { ...how, command: [missing] } as typeof how;
    await site.configure({}, site.template({ how: gone }), { probeMs: 20 });
    const state = "there is no such program";
    const why = `Cannot use the template small: ${missing}: ${state}`;
    await site.until(() => site.unusable, [{ name: "small", why }]);
    await site.stop();
    expect(site.unusable).toEqual([]);
  });

  test("no text of an observation shows a secret, whatever the driver prints", async () => {
    const path = join(site.folder, "aws.ini");
    await writeFile(path, "very-secret-key-17");
    const credentials = { aws: { from: "file" as const, path } };
    const mask = maskOf(new Redactor());
    const texts = `"message":"tried very-secret-key-17","apiUrl":"https://me:very-secret-key-17@api"`;
    const ready = `{"phase":"ready",${texts},"version":"very-secret-key-17 ${"x".repeat(500)}"}`;
    await site.world.before("observe", `if mine; then echo '${ready}'; exit 0; fi`);
    await site.configure({ size: 1, running: 1 }, site.template({ credentials }), { mask });
    await site.untilStock("kube-1 free");
    const { apiUrl, version, external } = await site.cluster("kube-1");
    expect(apiUrl).toBe("https://me:[hidden]@api");
    expect(version).toHaveLength(128);
    await site.world.before("observe", undefined);
    const stuck = `"blocking":["key very-secret-key-17"],"message":"password: hunter-of-clusters"`;
    await site.world.before("observe", `echo '{"phase":"destroying",${stuck}}'; exit 0`, external);
    await site.world.before("destroy", "echo '{}'; exit 0", external);
    await site.configure({ size: 0 }, site.template({ credentials }));
    await site.until(async () => (await site.cluster("kube-1")).stuck, ["key [hidden]"]);
    await site.until(async () => (await site.cluster("kube-1")).message, "password: [hidden]");
    expect(await site.journalled()).not.toMatch(/very-secret|hunter/);
    const failed = `{"phase":"failed","message":"denied for very-secret-key-17"}`;
    await site.world.before("observe", undefined, external);
    await site.world.before("destroy", undefined, external);
    await site.world.before("observe", `if mine; then echo '${failed}'; exit 0; fi`);
    await site.ask();
    await site.until(() => site.logs.length > 0, true);
    expect(site.logs[0]?.why).toBe("denied for [hidden]");
    await site.until(async () => (await site.journalled()).includes("denied for [hidden]"), true);
    expect(await site.journalled()).not.toMatch(/very-secret|hunter/);
  });

  test("P12: adopts a cluster whose reply was lost, by its name", async () => {
    await site.world.before("create", "if ! mine; then make; kill -9 $$; fi");
    await site.configure({ size: 1, running: 1, limits: { ...limits, createMs: 600_000 } });
    await site.until(async () => (await site.cluster("kube-1")).failures, 1);
    await site.untilStock("kube-1 free");
    expect(await site.world.clusters()).toHaveLength(1);
    expect((await site.cluster("kube-1")).failures).toBe(0);
  });

  test("P11: finishes what a provisioner began that died half-way, and makes no second one", async () => {
    await site.world.before("create", 'mkdir "$here.new.half"; sleep 600');
    await site.configure({ size: 1, running: 1 });
    await site.until(async () => (await site.world.calls("create")).length, 1);
    await site.stop();
    await site.untilStock("kube-1 creating");
    await site.world.before("create", undefined);
    site.start();
    await site.untilStock("kube-1 free");
    expect(await site.world.clusters()).toHaveLength(1);
  });

  test("I4: a hopeless failure is known at once, with the logs, and the cluster is replaced", async () => {
    await site.world.before("logs", "echo the machine has no disk; exit 0");
    await site.world.before("create", "say no such region; exit 20");
    await site.configure({ size: 1, running: 1, max: 1 });
    await site.until(() => site.logs.length > 0, true);
    expect(site.logs[0]).toMatchObject({
      why: "no such region (scripted.sh create exited with 20)",
      text: "the machine has no disk\n",
    });
    await site.world.before("create", undefined);
    await site.until(async () => /^kube-\d+ free$/.test(await site.stock()), true);
    expect(await site.world.clusters()).toHaveLength(1);
  });

  test("I4: so is a cluster that its back end reports as failed, or as taken", async () => {
    await site.world.before("create", 'make; echo failed > "$here/phase"; echo "{}"; exit 0');
    await site.configure({ size: 1, running: 1, max: 1, concurrent: 1 });
    await site.until(() => site.logs.length > 0, true);
    expect(site.logs[0]?.why).toBe("It has failed");
    await site.world.before("create", "exit 40");
    await site.until(() => site.logs.some(({ why }) => why.includes("exited with 40")), true);
    await site.world.before("create", undefined);
    await site.until(async () => /^kube-\d+ free$/.test(await site.stock()), true);
  });

  test("I3: a cluster of an older revision is destroyed with its own template, after a restart too", async () => {
    await site.configure({ size: 1, running: 1 });
    await site.untilStock("kube-1 free");
    const id = await site.ask();
    await site.lent(id);
    await site.stop();
    await site.configure({ size: 0, revision: "r2" }, null);
    expect(await site.stock()).toContain("kube-1 busy");
    await site.release(id);
    await site.until(() => site.world.clusters(), []);
    await site.untilStock("");
  });

  test("D1, D5: destroying what is gone already is done", async () => {
    await site.configure({ size: 1, running: 1 });
    await site.untilStock("kube-1 free");
    await site.world.vanish((await site.cluster("kube-1")).external);
    await site.configure({ size: 0 });
    await site.untilStock("");
  });

  test("D6, D9: destroys by exact name and instance", async () => {
    await site.configure({ size: 1, running: 1 });
    await site.untilStock("kube-1 free");
    const { external } = await site.cluster("kube-1");
    await site.world.occupy(`${external}2`, "neighbour");
    await site.world.vanish(external);
    await site.world.occupy(external, "a-newer-instance");
    await site.configure({ size: 0 });
    await site.untilStock("");
    expect(await site.world.instances()).toEqual(["a-newer-instance", "neighbour"]);
  });

  test("D7: logs that hang do not keep a cluster from being destroyed", async () => {
    await site.world.before("logs", "echo begin; sleep 600");
    await site.world.before("create", "exit 20");
    const how = { ...site.template().how, timeoutMs: 1_000 };
    await site.configure({ size: 1, running: 1, max: 1 }, site.template({ how }));
    await site.until(() => site.logs.length > 0, true);
    expect(site.logs[0]?.text).toContain("begin");
    await site.world.before("create", undefined);
    await site.until(async () => /^kube-\d+ free$/.test(await site.stock()), true);
  });

  test("D8: while the back end cannot be reached nothing is given up, and then it goes on", async () => {
    await site.configure({ size: 1, running: 1 });
    await site.untilStock("kube-1 free");
    await site.world.before("observe", "say cannot connect; exit 10");
    await site.world.before("destroy", "say cannot connect; exit 10");
    await site.destroy("kube-1");
    await site.until(async () => (await site.cluster("kube-1")).failures > 0, true);
    expect((await site.cluster("kube-1")).note).toContain("cannot connect");
    expect((await site.cluster("kube-1")).state).toBe("destroying");
    expect(await site.world.clusters()).not.toEqual([]);
    await site.world.before("observe", undefined);
    await site.world.before("destroy", undefined);
    await site.until(async () => (await site.stock()).includes("kube-1"), false);
  });

  test("tells what blocks a destruction, and tries again and again", async () => {
    await site.configure({ size: 1, running: 1 });
    await site.untilStock("kube-1 free");
    const { external } = await site.cluster("kube-1");
    const observe = `echo '{"phase":"destroying","blocking":["volume vol-1 is in use"]}'; exit 0`;
    await site.world.before("observe", observe, external);
    await site.world.before("destroy", "echo '{}'; exit 0", external);
    await site.configure({ size: 0 });
    await site.until(async () => (await site.cluster("kube-1")).stuck, ["volume vol-1 is in use"]);
    const seen = (await site.world.calls("observe")).length;
    await site.until(async () => (await site.world.calls("observe")).length > seen + 2, true);
    expect(await site.stock()).toBe("kube-1 destroying");
    await site.world.before("observe", undefined, external);
    await site.world.before("destroy", undefined, external);
    await site.untilStock("");
    expect(await site.world.clusters()).toEqual([]);
  });

  test("D2: a program finds what the back end has left, and the cluster is not gone before that is", async () => {
    const [program, left] = [join(site.folder, "left.sh"), join(site.folder, "left")];
    const script = `#!/bin/sh\ncat > ${site.folder}/asked\ncat ${left}\n`;
    await writeFile(program, script, { mode: 0o755 });
    await writeFile(left, '["volume vol-1"]');
    const verify = { command: [program], folder: site.folder };
    await site.configure({ size: 1, running: 1 }, site.template({ verify }));
    await site.untilStock("kube-1 free");
    const { instance, external: name } = await site.cluster("kube-1");
    await site.configure({ size: 0 }, site.template({ verify }));
    await site.until(async () => (await site.cluster("kube-1")).stuck, ["volume vol-1"]);
    expect(await site.world.clusters()).toEqual([]);
    expect(await site.stock()).toBe("kube-1 destroying");
    expect(JSON.parse(await readFile(join(site.folder, "asked"), "utf8"))).toEqual({
      name,
      instance,
    });
    await writeFile(left, "looking\n[]\n");
    await site.untilStock("");
  });

  test("H1: a cluster that is to sleep and is wanted at once ends awake", async () => {
    await site.world.before(
      "hibernate",
      'mine || exit 30; echo stopping > "$here/phase"; echo "{}"; exit 0',
    );
    await site.configure({ size: 1, running: 0, max: 1 });
    await site.until(() => site.stock(), "kube-1 stopping");
    await site.until(async () => (await site.world.calls("hibernate")).length > 0, true);
    expect(await site.lent(await site.ask())).toBe("kube-1");
    expect(await site.world.calls("resume")).not.toEqual([]);
  });

  test("H5: a cluster that does not start is tried again, is broken in the end, and replaced", async () => {
    await site.configure({ size: 1, running: 0 });
    await site.untilStock("kube-1 hibernated");
    const { external } = await site.cluster("kube-1");
    await site.world.before("resume", "say no capacity; exit 10", external);
    const id = await site.ask();
    await site.until(async () => (await site.cluster("kube-1")).failures > 0, true);
    expect((await site.cluster("kube-1")).note).toContain("no capacity");
    await site.world.before("resume", "say it is corrupt; exit 20", external);
    expect(await site.lent(id)).not.toBe("kube-1");
    await site.until(() => site.logs.some(({ why }) => why.includes("it is corrupt")), true);
  });

  test.each([
    [
      "is reported as failed",
      'echo \'{"phase": "failed", "message": "certificates expired"}\'; exit 0',
    ],
    ["cannot be used any more", "say certificates expired; exit 20"],
  ])("H6: a cluster that wakes up and %s is broken, and never lent", async (_, observed) => {
    await site.configure({ size: 1, running: 0, max: 2 });
    await site.untilStock("kube-1 hibernated");
    const { external } = await site.cluster("kube-1");
    await site.world.before("observe", `if [ -e "$here/woken" ]; then ${observed}; fi`, external);
    await site.world.before("resume", 'touch "$here/woken"', external);
    const id = await site.ask();
    expect(await site.lent(id)).not.toBe("kube-1");
    await site.until(() => site.logs.some(({ why }) => /certificates expired/.test(why)), true);
  });

  test("C9, C10: two provisioners never work on one cluster at a time", async () => {
    await site.world.before(
      "create",
      'mkdir "$WORLD/lock.$name" || say "two at once" ; sleep 0.2; rmdir "$WORLD/lock.$name"',
    );
    await site.configure({ size: 4, running: 4 });
    const first = site.provisioner;
    site.start({}, site.work({ isAlone: false }));
    await site.untilStock("kube-1 free, kube-2 free, kube-3 free, kube-4 free");
    expect(await site.world.calls("create")).toHaveLength(4);
    expect(await site.world.clusters()).toHaveLength(4);
    await first.stop();
  });

  test("goes on at once with the clusters of a provisioner that died, if it is alone", async () => {
    await site.configure({ size: 0 });
    await site.stop();
    await site.configure({ size: 1, running: 1 }, site.template(), {}, { isStarted: false });
    // It leases the cluster and is never heard of again; its lease has a ttl.
    const dead = await site.work({ isAlone: false }).take();
    expect(dead).toMatchObject({ resource: "kube-1", phase: "creating" });
    site.start();
    await site.untilStock("kube-1 free");
    await expect(dead?.report({ message: "still here" })).rejects.toThrow("has ended");
    await dead?.finish({});
  });

  test("ends its calls when it is stopped, and leaves the clusters in their phase", async () => {
    await site.world.before("create", "sleep 600");
    await site.configure({ size: 1 });
    await site.until(async () => (await site.world.calls("create")).length, 1);
    await site.stop();
    expect(await site.stock()).toBe("kube-1 creating");
    expect((await site.cluster("kube-1")).failures).toBe(0);
  });

  test("makes as many calls at once as it may, and no more", async () => {
    await site.world.before(
      "create",
      'touch "$WORLD/at.$$"; ls "$WORLD" | grep -c "^at" >> "$WORLD/most"; sleep 0.1; rm "$WORLD/at.$$"',
    );
    await site.configure({ size: 12, running: 12 }, undefined, { parallel: 3 });
    await site.configure({ size: 12, running: 12 });
    await site.until(async () => (await site.stock()).match(/free/g)?.length, 12);
    const counts = (await readFile(join(site.world.folder, "most"), "utf8")).trim().split("\n");
    expect(Math.max(...counts.map(Number))).toBeLessThanOrEqual(3);
  });
});

describe("credentials that a space wants to store", () => {
  const values = { KEY: "key-of-team-a-1234" };
  const ask = () => site.checks.ask("small", values, 20_000);

  test("B1: are tried out by the driver, which refuses them in its words", async () => {
    await site.configure({}, site.template({ validates: true, ownCredentials: "aws" }));
    const reads = 'key=$(sed -n \'s/.*"KEY":"\\([^"]*\\)".*/\\1/p\' "$BERTH_CREDENTIALS")';
    const refuses = `${reads}; echo "the key $key was revoked" >&2; exit 20`;
    await site.world.before("validate", refuses);
    const { verdict, why } = await ask();
    expect([verdict, why]).toEqual(["refused", expect.stringContaining("was revoked")]);
    await site.world.before("validate", "echo '{}'; exit 0");
    expect(await ask()).toEqual({ verdict: "valid", why: "" });
    expect(await site.world.calls("create")).toEqual([]);
  });

  test("B1: a cloud that is down says nothing about a key", async () => {
    await site.configure({}, site.template({ validates: true, ownCredentials: "aws" }));
    await site.world.before("validate", "echo 'the cloud is down' >&2; exit 10");
    expect(await ask()).toMatchObject({ verdict: "unknown" });
    expect(await site.checks.ask("none", values, 20_000)).toMatchObject({ verdict: "unknown" });
  });

  test("B1: without a provisioner nobody can tell", async () => {
    expect(await site.checks.ask("small", values, 10)).toEqual({
      verdict: "unknown",
      why: "no provisioner has answered",
    });
  });
});

describe("a sweep", () => {
  const often = { sweepMs: 50, orphanSearchMs: 50 };

  test("C11, D5: finds idle clusters that are gone, and replaces them", async () => {
    await site.configure({ size: 2, running: 1 }, undefined, often);
    await site.configure({ size: 2, running: 1 });
    await site.untilStock("kube-1 free, kube-2 hibernated");
    await site.world.vanish((await site.cluster("kube-1")).external);
    await site.until(() => site.lost, ["kube-1: It does not exist any longer"]);
    await site.until(async () => (await site.world.clusters()).length, 2);
    await site.until(async () => (await site.stock()).includes("kube-1"), false);
  });

  test("C11: tells the holder of a lent cluster that it is lost, and takes nothing from it", async () => {
    await site.configure({ size: 0 }, site.template(), often);
    const name = await site.lent(await site.ask());
    await site.world.set((await site.cluster(name)).external, "phase", "failed\n");
    await site.until(
      async () => (await site.cluster(name)).lost,
      "Its driver reports that it has failed",
    );
    expect((await site.cluster(name)).state).toBe("busy");
  });

  test("D8: a back end that does not answer loses no cluster", async () => {
    await site.configure({ size: 1, running: 1 }, site.template(), often);
    await site.untilStock("kube-1 free");
    await site.world.before("observe", "exit 10");
    const before = (await site.world.calls("observe")).length;
    await site.until(async () => (await site.world.calls("observe")).length > before + 5, true);
    expect(await site.stock()).toBe("kube-1 free");
    expect(site.lost).toEqual([]);
  });

  test("D4: reports orphans only after the grace period, and destroys none without a policy", async () => {
    const options = { ...often, orphanGraceMs: 1_500 };
    await site.world.occupy("berth-old", "old.1", "2020-01-01T00:00:00Z");
    const startedAt = Date.now();
    await site.configure({ size: 1, running: 1 }, site.template(), options);
    await site.until(() => site.orphans.map(({ instance }) => instance), ["old.1"]);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_500);
    await site.untilStock("kube-1 free");
    expect(site.orphans).toMatchObject([{ name: "berth-old", template: "small" }]);
    expect(await site.world.exists("berth-old")).toBe(true);
    expect(site.orphans).toHaveLength(1);
  });

  test("D4: a restart of the provisioner begins no new grace period", async () => {
    const seen = () =>
      site.broker.read(({ orphanClusters }) => orphanClusters.get("old.1")?.seenAt ?? "never");
    await site.world.occupy("berth-old", "old.1", "2020-01-01T00:00:00Z");
    await site.configure({}, site.template({ orphans: "destroy" }), often);
    await site.until(async () => (await seen()) !== "never", true);
    const first = Number(await seen());
    await site.stop();
    const graceMs = 1_000;
    await site.until(() => site.broker.now() - first > graceMs, true);
    // Its first search destroys it. With a grace period of its own, a later one would.
    site.start({ orphanSearchMs: 10, orphanGraceMs: graceMs });
    await site.until(() => site.orphans.length, 1);
    expect(await seen()).toBe(first);
    expect((await site.world.calls("list")).length).toBeGreaterThan(1);
    await site.until(() => site.world.exists("berth-old"), false);
    await site.until(seen, "never");
  });

  test("D4: searches with the credentials of every space, where clusters are made with them", async () => {
    const values = { KEY: "key-of-team-a-1234" };
    site.credentials.push({ reference: "team-a/aws#1", values });
    await site.world.before(
      "list",
      'cat "$BERTH_CREDENTIALS" >>"$WORLD/searched"; echo >>"$WORLD/searched"',
    );
    await site.world.occupy("berth-old", "old.1", "2020-01-01T00:00:00Z");
    const own = site.template({ ownCredentials: "aws", orphans: "destroy" });
    await site.configure({}, own, { ...often, orphanGraceMs: 0 });
    await site.until(() => site.world.exists("berth-old"), false);
    const searched = await readFile(join(site.world.folder, "searched"), "utf8");
    expect(JSON.parse(searched.split("\n")[0] ?? "")).toEqual(values);
    expect(site.orphans).toMatchObject([{ instance: "old.1", template: "small" }]);
  });

  test("D4: destroys orphans if the template says so, and never what is in the books", async () => {
    const options = { ...often, orphanGraceMs: 500 };
    await site.world.occupy("berth-old", "old.1", "2020-01-01T00:00:00Z");
    await site.configure({ size: 2, running: 1 }, site.template({ orphans: "destroy" }), options);
    await site.until(() => site.world.exists("berth-old"), false);
    await site.untilStock("kube-1 free, kube-2 hibernated");
    expect(await site.world.clusters()).toHaveLength(2);
  });
});
