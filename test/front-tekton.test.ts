/**
 * The steps of `deploy/tekton`, as they are: their scripts with bash, curl and kubectl, against a server that makes
 * namespaces on a real API server and knows the tokens of its service accounts.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { finished, TestServer } from "./cli-processes.ts";
import { noControllers, patienceMs } from "./kube-binaries.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { type PipelineTask, Pod, stepAction, tektonFiles, tektonObjects } from "./tekton-steps.ts";

describe("the objects of deploy/tekton", () => {
  const named = (kind: string, name: string) =>
    tektonObjects.find((one) => one.kind === kind && one.metadata.name === name)?.spec;
  const task = ({ taskRef, params }: PipelineTask) => [`Task ${taskRef.name}`, params] as const;
  const references = tektonObjects.flatMap(({ spec }) => [
    ...(spec.steps ?? []).flatMap(({ ref, params = [] }) =>
      ref === undefined ? [] : [[`StepAction ${ref.name}`, params] as const],
    ),
    ...[...(spec.tasks ?? []), ...(spec.finally ?? [])].map(task),
  ]);

  test.each(references)("%s gets every parameter that it needs, and no other", (target, given) => {
    const [kind = "", name = ""] = target.split(" ");
    const wanted = named(kind, name)?.params ?? [];
    const names = given.map((one) => one.name);
    expect(wanted.map((one) => one.name)).toEqual(expect.arrayContaining(names));
    const required = wanted.filter((one) => one.default === undefined).map((one) => one.name);
    expect(names).toEqual(expect.arrayContaining(required));
  });

  test("no script contains a parameter, so no value can become code", () => {
    const scripts = tektonObjects.flatMap(({ spec }) => [
      ...(spec.script === undefined ? [] : [spec.script]),
      ...[...(spec.steps ?? []), ...(spec.sidecars ?? [])].flatMap(({ script = [] }) => script),
    ]);
    expect(scripts.length).toBeGreaterThanOrEqual(7);
    for (const script of scripts) expect(script).not.toMatch(/\$\((params|context|tasks)/);
  });

  test("every volume that a step mounts is one of the task", () => {
    for (const { kind, spec } of tektonObjects) {
      if (kind !== "Task") continue;
      const volumes = (spec.volumes ?? []).map(({ name }) => name);
      for (const { ref } of spec.steps ?? []) {
        const params = stepAction(ref?.name ?? "berth-logs").params ?? [];
        const mounted = params.filter(({ name }) => name.endsWith("-volume"));
        expect(volumes).toEqual(expect.arrayContaining(mounted.map((one) => one.default)));
      }
    }
  });
});

const audience = "https://berth.example.org";
const operatorToken = "tekton-token-of-the-operator";

describe.skipIf(noControllers)("the steps", { timeout: patienceMs }, () => {
  const cluster = sharedCluster();
  let server: TestServer;
  let operator: BerthClient;
  let folder: string;
  let namespace: string;
  let pods = 0;

  const kubectl = (...args: readonly string[]) =>
    execFileSync(join(cluster.binaries, "kubectl"), args, { encoding: "utf8" });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-tekton-"));
    namespace = await cluster.namespace();
    const accounts = ["api", "v1", "namespaces", namespace, "serviceaccounts"];
    await cluster.create(accounts, { metadata: { name: "ci-runner" } });
    const keys = join(folder, "keys.json");
    const admin = ["--kubeconfig", cluster.adminConfig];
    await writeFile(keys, kubectl(...admin, "get", "--raw", "/openid/v1/jwks"));
    const issuer = {
      issuer: "https://kubernetes.default.svc",
      audience,
      jwks: { file: keys },
      rules: [
        {
          claims: { "kubernetes.io/serviceaccount/name": "ci-runner" },
          space: "{kubernetes.io/namespace}",
          role: "holder",
        },
      ],
    };
    const tokens = [
      { name: "ops", sha256: tokenHash(operatorToken), space: "ops", role: "operator" },
    ];
    server = await TestServer.startWith({
      templates: { ns: { driver: "namespace", kubeconfig: cluster.adminConfig } },
      pools: {
        ns: { template: "ns", size: 1, lifetime: "2h" },
        "aws-account": { members: ["aws-1"], lockDelay: "0s" },
        slot: { count: 200, lockDelay: "0s" },
      },
      auth: { tokens, issuers: [issuer] },
    });
    operator = new BerthClient({ url: server.url, token: operatorToken });
  }, patienceMs);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  async function pod(): Promise<Pod> {
    const path = ["api", "v1", "namespaces", namespace, "serviceaccounts", "ci-runner", "token"];
    const spec = { audiences: [audience], expirationSeconds: 3_600 + ++pods };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const api = await cluster.admin();
    const { status } = await api.call<{ status: { token: string } }>({
      ...{ method: "POST", path, body },
    });
    return Pod.make(folder, status.token, cluster.binaries);
  }

  /** The values of a run: each has its own request id. */
  function request(name: string, more: object = {}) {
    return { server: server.url, "request-id": `run-${name}`, holder: `${namespace}/e2e`, ...more };
  }

  async function step(name: string, given: Record<string, string>, inPod?: Pod) {
    const at = inPod ?? (await pod());
    const ran = await finished(await at.run(stepAction(`berth-${name}`), given));
    return { ...ran, pod: at };
  }

  test("Tekton's definitions accept the objects", async () => {
    const own = await cluster.namespace();
    for (const file of tektonFiles) {
      const args = ["--kubeconfig", cluster.adminConfig, "-n", own, "create", "--validate=strict"];
      expect(kubectl(...args, "-f", file.pathname)).toContain("created");
    }
  });

  test("a cluster from the request to its end, each step in a pod of its own", async () => {
    const given = request("cluster", { pools: "ns" });
    const asked = await step("ask", given);
    expect(asked.code, asked.all).toBe(0);
    const id = await asked.pod.result("lease-id");
    const waited = await step("wait", given);
    expect(waited.code, waited.all).toBe(0);
    expect(await waited.pod.result("resources")).toMatch(/^ns-\d+$/);
    expect(waited.stderr).toMatch(/waiting .* · position 1 · |Acquired/);

    const { pod: job, ...access } = await step("access", given);
    expect(access.code, access.all).toBe(0);
    const file = join(job.lease, "kubeconfig");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const secret = JSON.parse(await readFile(file, "utf8")).users[0].user.token as string;
    for (const { all } of [asked, waited, access]) expect(all).not.toContain(secret);
    const test = {
      script: `. /lease/lease.env; kubectl create configmap mine; echo "$KUBECONFIG"`,
    };
    const used = await finished(await job.run(test, {}));
    expect(used.stdout, used.all).toContain("configmap/mine created");

    const logs = await step("logs", given);
    expect([logs.code, logs.stdout]).toEqual([0, expect.stringContaining(`"id":"${id}"`)]);
    expect(logs.all).not.toContain(secret);
    for (const word of ["Released", "Nothing to release"]) {
      const released = await step("release", given);
      expect([released.code, released.stderr]).toEqual([0, expect.stringContaining(word)]);
    }
    await expect
      .poll(async () => (await operator.everyLease()).filter(({ id: one }) => one === id))
      .toEqual([]);
    // Nothing that a step had for itself is left behind.
    const left = await readdir(job.folder);
    expect(left.filter((name) => name.startsWith("berth-"))).toEqual([]);
  });

  test("the sidecar keeps the lease, renews its files, and says if it is lost", async () => {
    const sidecar = tektonObjects.flatMap(({ spec }) => spec.sidecars ?? [])[0];
    if (sidecar === undefined) throw new Error("there is no sidecar");
    const script = sidecar.script?.replace("--every 1m", "--every 1s");
    const spec = { ...sidecar, script: script ?? "", params: [] };
    const given = request("sidecar", { pools: "aws-account", ttl: "3s" });
    const id = (await (await step("ask", given)).pod.result("lease-id")).trim();
    const { pod: job } = await step("access", given);
    await rm(join(job.lease, "lease.env"));
    const beats = await job.run(spec, given);
    const first = (await operator.lease(id)).expiresAt ?? "";
    await expect
      .poll(async () => Date.parse((await operator.lease(id)).expiresAt ?? ""), { timeout: 20_000 })
      .toBeGreaterThan(Date.parse(first) + 3_000);
    await operator.revoke(id, { by: "ops", reason: "test" });
    expect(await beats.ended).toBe(76);
    expect(beats.stderr).toContain("LEASE LOST");
    const again = await job.run(spec, request("unknown"));
    again.signal("SIGTERM");
    await again.ended;
  });

  test("values with quotes, spaces and code stay values", async () => {
    const holder = `$(touch ${folder}/owned) "x' ; exit 3 #`;
    const asked = await step("ask", request("odd", { pools: "slot", holder }));
    expect(asked.code, asked.all).toBe(0);
    const [lease] = (await operator.everyLease()).filter((one) => one.holder === holder);
    expect(lease?.claims[0]?.resource).toMatch(/^slot-\d+$/);
    expect(await readdir(folder)).not.toContain("owned");
    expect((await step("release", request("odd"))).code).toBe(0);
  });

  test("a step fails at once if there is nothing to wait for, and logs never fail", async () => {
    const nowhere = request("nowhere", { timeout: "10m" });
    const waited = await step("wait", nowhere);
    expect([waited.code, waited.stderr]).toEqual([66, expect.stringContaining("Cannot find")]);
    const asked = await step("ask", { ...nowhere, pools: "no-such-pool" });
    expect([asked.code, asked.stderr]).toEqual([66, expect.stringContaining("no-such-pool")]);
    expect((await step("logs", nowhere)).code).toBe(0);
    const unreachable = { ...nowhere, server: "http://127.0.0.1:9" };
    const quick = stepAction("berth-logs").script?.replace("--retry 3", "--retry 0") ?? "";
    const at = await pod();
    const spec = { ...stepAction("berth-logs"), script: quick };
    expect((await finished(await at.run(spec, unreachable))).code).toBe(0);
    expect((await step("release", nowhere)).code).toBe(0);
  });

  /** Kills whoever runs command number N: of the step, or with `everywhere` also of the client inside. */
  const killAt = (n: number, everywhere = false) =>
    `${everywhere ? "set -T; " : ""}killCount=0; trap 'killCount=$((killCount+1)); [ $killCount -ne ${n} ] || kill -9 $$' DEBUG`;

  /** Kills the step again and again, a little later each time, until it gets through; then once more in peace. */
  async function killed(name: string, lines: (nth: number) => number, everywhere = false) {
    const at = await pod();
    if (everywhere) await at.useBashAsSh();
    const holder = `${namespace}/${name}-${everywhere}`;
    const given = request(`killed-${name}-${everywhere}`, { pools: "slot", holder });
    if (name !== "ask") expect((await step("ask", given, at)).code).toBe(0);
    const leases = async () =>
      (await operator.everyLease()).filter((lease) => lease.holder === holder);
    const [before] = await leases();
    let kills = 0;
    for (let nth = 1; ; nth++) {
      const trap = killAt(lines(nth), everywhere);
      const run = await finished(await at.run(stepAction(`berth-${name}`), given, trap));
      if (run.code === 0) break;
      kills += 1;
      expect((await leases()).length, run.all).toBeLessThanOrEqual(1);
    }
    const again = await step(name, given, at);
    expect(again.code, again.all).toBe(0);
    const now = await leases();
    if (name === "release") expect(now).toEqual([]);
    else expect(now).toHaveLength(1);
    if (name !== "ask" && name !== "release") expect(now[0]?.id).toBe(before?.id);
    return kills;
  }

  const names = ["ask", "wait", "access", "release"];

  test.each(names)(
    "%s, killed at every line and tried again, has one lease or none",
    async (name) => {
      expect(await killed(name, (nth) => nth)).toBeGreaterThan(4);
    },
  );

  test.each(names)("%s, killed all over its client, too", async (name) => {
    expect(await killed(name, (nth) => nth * 41, true)).toBeGreaterThan(4);
  });
});
