/** The kustomizations on a real API server, and the server as its pod would run it there. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { berthPath, finished, Process } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import {
  kubectl,
  kustomized,
  kustomizeFolder,
  manifestsIn,
  Overlay,
  podTemplateOf,
} from "./manifests.ts";
import { apart, noPods } from "./own-files.ts";
import { output } from "./programs.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();
const base = join(kustomizeFolder, "base");
const account = "system:serviceaccount:berth:berth";

function applied(folder: string): void {
  const { status, stderr } = kubectl(cluster, ["apply", "-k", folder]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
}

/** Whether the account of the server may do this, for example `create tokenreviews`. */
function may(...right: string[]): boolean {
  const { stdout } = kubectl(cluster, ["auth", "can-i", "--as", account, ...right]);
  return stdout.trim() === "yes";
}

describe.skipIf(noKube)("deploy/kubernetes", { timeout: patienceMs }, () => {
  beforeAll(() => {
    if (!noKube && cluster.hasControllers) applied(base);
  });
  beforeEach((context) =>
    context.skip(!cluster.hasControllers, "they need an API server with Pod Security"),
  );

  test("has pods that Pod Security accepts at its strictest level", () => {
    const { metadata, spec } = podTemplateOf(kustomized(cluster, base));
    const volumes = [...spec.volumes, { name: "data", emptyDir: {} }];
    const pod = (name: string, more: object) =>
      JSON.stringify({
        ...{ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name } },
        spec: { ...spec, volumes, ...more },
      });
    // A pod that stayed would count in the tests of capacity, which use the same API server.
    const asked = ["-n", "berth", "create", "--dry-run=server", "-f", "-"];
    const create = (name: string, more = {}) => kubectl(cluster, asked, pod(name, more));
    expect(create("berth-0")).toMatchObject({ status: 0, stderr: "" });
    expect(create("bad", { hostNetwork: true }).stderr).toContain(
      'violates PodSecurity "restricted',
    );
    expect(create("bad", { securityContext: {} }).stderr).toContain("runAsNonRoot != true");
  });

  test("goes from one server to replicas without a new stateful set", () => {
    applied(join(kustomizeFolder, "replicas"));
    const { stdout } = kubectl(cluster, ["-n", "berth", "get", "statefulset/berth", "-o", "yaml"]);
    expect(manifestsIn(stdout)[0]?.["spec"]).toMatchObject({ replicas: 3 });
    applied(base);
  });

  test("gives the server the rights of its configuration, and no others", () => {
    const rights = {
      "create tokenreviews.authentication.k8s.io": true,
      "create subjectaccessreviews.authorization.k8s.io": false,
      "get secrets -n berth": false,
      "list pods": false,
      "update leases.coordination.k8s.io -n berth": false,
    };
    const found = () =>
      Object.fromEntries(Object.keys(rights).map((each) => [each, may(...each.split(" "))]));
    expect(found()).toEqual(rights);
    kubectl(cluster, ["create", "namespace", "clusters"]);
    using all = new Overlay("base", ["mirror", "admission", "monitoring", "openshift"]);
    applied(all.folder);
    const more = { "list pods": true, "update leases.coordination.k8s.io -n berth": true };
    expect(found()).toEqual({ ...rights, ...more });
    expect(may("update", "leases.coordination.k8s.io", "-n", "default")).toBe(false);
    expect(may("delete", "pods")).toBe(false);
    expect(may("list", "resourcequotas", "-n", "clusters")).toBe(true);
  });

  test.each(["mirror", "admission"])("has the roles of %s as berth prints them", async (name) => {
    const read = async (path: string) =>
      manifestsIn(await readFile(join(kustomizeFolder, path), "utf8"));
    const printed = (await read(`${name}.yaml`)).filter(({ kind }) => kind !== "ServiceAccount");
    expect(await read(`components/${name}/role.yaml`)).toEqual(printed);
  });
});

/** The files of a pod: the token of its account, and what its volumes bring. */
const asInPod = `
  mount -t tmpfs none /run
  mkdir -p /var/run/secrets/kubernetes.io
  cp -r "$POD_FILES/serviceaccount" /var/run/secrets/kubernetes.io/
  exec "$@"`;

interface KubeConfig {
  readonly clusters: readonly [{ cluster: { "certificate-authority-data": string } }];
}

/** A token of a service account, as a projected volume has it. */
function tokenOf(namespace: string, name: string, ...more: string[]): string {
  return kubectl(cluster, ["-n", namespace, "create", "token", name, ...more]).stdout.trim();
}

/** Does what the guide says about Kustomize, in a folder of its own, and answers the user's kustomization. */
async function followGuide(): Promise<string> {
  const guide = await readFile(new URL("../docs/guides/install.md", import.meta.url), "utf8");
  const [, block = ""] = /### With Kustomize[\s\S]*?```sh\n([\s\S]*?)```/.exec(guide) ?? [];
  const place = join(cluster.folder, "guide");
  mkdirSync(place);
  symlinkSync(join(kustomizeFolder, ".."), join(place, "deploy"));
  const env = {
    ...process.env,
    PATH: `${cluster.binaries}:${process.env["PATH"]}`,
    KUBECONFIG: cluster.adminConfig,
  };
  const shown = output("bash", ["-ec", block.replaceAll(/^ {3}/gm, "")], { cwd: place, env });
  // The step that the guide leaves to the reader.
  const [, issuer = ""] = /"issuer":"([^"]+)"/.exec(shown) ?? [];
  const file = join(place, "my-berth/berth.yaml");
  const text = await readFile(file, "utf8");
  writeFileSync(file, text.replace(/(- issuer: ).*/, `$1${issuer}`));
  return join(place, "my-berth");
}

/** Starts the command of the pod, with its variables and the files of its volumes. */
async function startPod(kustomization: string): Promise<Process> {
  const folder = join(cluster.folder, "pod-of-berth");
  mkdirSync(join(folder, "serviceaccount"), { recursive: true });
  const manifests = kustomized(cluster, kustomization);
  const config = manifests.find(({ kind }) => kind === "ConfigMap")?.["data"];
  const { "berth.yaml": text } = config as { "berth.yaml": string };
  writeFileSync(join(folder, "berth.yaml"), text);
  writeFileSync(join(folder, "serviceaccount/token"), tokenOf("berth", "berth"));
  const admin: KubeConfig = JSON.parse(await readFile(cluster.adminConfig, "utf8"));
  const ca = admin.clusters[0].cluster["certificate-authority-data"];
  writeFileSync(join(folder, "serviceaccount/ca.crt"), Buffer.from(ca, "base64"));
  const [{ args, env }] = podTemplateOf(manifests).spec.containers;
  const expand = (value = "") => value.replaceAll("$(POD_NAMESPACE)", "berth");
  const line = [...apart, "sh", "-ec", asInPod, "sh", berthPath, ...args];
  return new Process("unshare", line, {
    PATH: process.env["PATH"],
    HOME: folder,
    POD_FILES: folder,
    KUBERNETES_SERVICE_HOST: "127.0.0.1",
    KUBERNETES_SERVICE_PORT: new URL(cluster.url).port,
    // The variables of the image, with its folders and ports in another place.
    BERTH_CONFIG: join(folder, "berth.yaml"),
    BERTH_DATA: join(folder, "data"),
    ...Object.fromEntries(env.map(({ name, value }) => [name, expand(value)])),
    BERTH_LISTEN: "0.0.0.0:0",
    BERTH_HEALTH_LISTEN: "127.0.0.1:0",
  });
}

describe.skipIf(noKube || noPods)("the pod of deploy/kubernetes", { timeout: patienceMs }, () => {
  test("lends to a job as the guide says, as long as it may ask who shows a token", async (context) => {
    context.skip(!cluster.hasControllers, "they need an API server with Pod Security");
    const kustomization = await followGuide();
    applied(kustomization);
    const team = await cluster.namespace();
    kubectl(cluster, ["-n", team, "create", "serviceaccount", "ci-runner"]);
    const server = await startPod(kustomization);
    try {
      const [, port] = await server.says(/Berth lends .* at http:\/\/[^:\s]+:(\d+)/);
      const url = `http://127.0.0.1:${port}`;
      const job = async () => {
        const BERTH_TOKEN = tokenOf(team, "ci-runner", "--audience", "berth");
        const env = { ...process.env, BERTH_URL: url, BERTH_TOKEN };
        const line = ["sh", "-c", "echo I have $BERTH_RESOURCE_AWS_ACCOUNT"];
        const args = ["run", "--connect-timeout", "1s", "--pool", "aws-account", "--", ...line];
        return finished(new Process(berthPath, args, env));
      };
      expect(await job()).toMatchObject({ stdout: expect.stringMatching(/I have aws-\d/) });
      const calledAs = async (host: string) => {
        const args = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", `Host: ${host}`];
        return (await finished(new Process("curl", [...args, `${url}/healthz`], process.env)))
          .stdout;
      };
      expect(await calledAs("berth.berth.svc.cluster.local")).toBe("200");
      expect(await calledAs("berth.other.svc.cluster.local")).toBe("421");
      // Without the one right that it has, it cannot know who asks.
      kubectl(cluster, ["delete", "clusterrolebinding", "berth-token-review-berth"]);
      const refused = await job();
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain("Cannot");
      expect(refused.stdout).toBe("");
    } finally {
      server.signal("SIGTERM");
      await server.ended;
    }
  });
});
