/** In a pod there is no kubeconfig: a token and a certificate lie in a well-known place. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { berthPath, Process } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { apart, noPods } from "./own-files.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { SlotsWorld } from "./slots-world.ts";

const asInPod = `
  mount -t tmpfs none /run
  place=/var/run/secrets/kubernetes.io/serviceaccount
  mkdir -p $place
  cp "$POD_FILES/token" "$POD_FILES/ca.crt" $place
  exec "$@"`;

const cluster = sharedCluster();

interface Config {
  readonly clusters: readonly [{ cluster: { "certificate-authority-data": string } }];
  readonly users: readonly [{ user: { token: string } }];
}

/** Runs `berth slots …` with the account of a job as a pod would have it. */
async function inPod(world: SlotsWorld, args: readonly string[], service: NodeJS.ProcessEnv) {
  const config = JSON.parse(await readFile(world.jobConfig, "utf8")) as Config;
  const ca = config.clusters[0].cluster["certificate-authority-data"];
  await writeFile(join(world.folder, "token"), config.users[0].user.token);
  await writeFile(join(world.folder, "ca.crt"), Buffer.from(ca, "base64"));
  const { KUBECONFIG: _, ...env } = world.env;
  const line = [...apart, "sh", "-ec", asInPod, "sh", berthPath, "slots", ...args];
  const started = new Process("unshare", line, { ...env, ...service, POD_FILES: world.folder });
  return Object.assign(started, { code: await started.ended });
}

describe.skipIf(noKube || noPods)("berth slots in a pod", { timeout: patienceMs }, () => {
  const service = () => ({
    KUBERNETES_SERVICE_HOST: "127.0.0.1",
    KUBERNETES_SERVICE_PORT: new URL(cluster.url).port,
  });

  test("uses the account of the pod, and trusts its certificate", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const taken = await inPod(world, ["acquire"], service());
    expect([taken.code, taken.stdout]).toEqual([0, "0\n"]);
    expect(await world.holders()).toEqual(["pr1:1"]);
    const other = await inPod(world, ["status", "-n", "default"], service());
    expect(other.code).toBe(77);
    const account = `system:serviceaccount:${world.set.namespace}:berth-slots`;
    expect(other.stderr).toContain(account);
  });

  test("reports the missing variables if the address is unknown", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const { code, stderr } = await inPod(world, ["status"], {});
    expect(code).toBe(64);
    expect(stderr).toContain("KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is missing");
  });
});
