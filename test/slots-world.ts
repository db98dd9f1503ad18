/** `berth slots` as real processes against a real API server, with the rights that are shipped. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject, LeaseObject, LeaseSpec } from "../src/kubernetes/kube-objects.ts";
import type { LeaseStore } from "../src/kubernetes/lease-store.ts";
import { manifestsOf } from "../src/slots/manifests.ts";
import type { SlotSet } from "../src/slots/slot.ts";
import { canRunInProcess, type Finished, runInProcess } from "./cli-in-process.ts";
import { berthPath, finished, onTerminal, Process } from "./cli-processes.ts";
import type { KubeCluster } from "./kube-cluster.ts";

/** A namespace of its own, its accounts, and the processes that a test has started in it. */
export class SlotsWorld implements AsyncDisposable {
  readonly cluster: KubeCluster;
  readonly set: SlotSet;
  /** With all rights, to arrange what a test needs. */
  readonly store: LeaseStore;
  /** With the rights of a job, and of the cleaner. */
  readonly jobConfig: string;
  readonly cleanerConfig: string;
  readonly folder: string;
  readonly #children = new Set<Process>();

  private constructor(
    parts: Pick<SlotsWorld, "cluster" | "set" | "store" | "folder">,
    job: string,
    cleaner: string,
  ) {
    this.cluster = parts.cluster;
    this.set = parts.set;
    this.store = parts.store;
    this.folder = parts.folder;
    this.jobConfig = job;
    this.cleanerConfig = cleaner;
  }

  static async make(cluster: KubeCluster, count = 2): Promise<SlotsWorld> {
    const namespace = await cluster.namespace();
    const set = { namespace, prefix: "berth-slot", app: "berth-slots", count };
    const store = await cluster.store(namespace);
    const folder = await mkdtemp(join(tmpdir(), "berth-slots-test-"));
    await apply(cluster, manifestsOf({ set, kind: kindIn(namespace), deleting: 2 }));
    const job = await accountConfig(cluster, namespace, "berth-slots");
    const cleaner = await accountConfig(cluster, namespace, "berth-slots-cleanup");
    return new SlotsWorld({ cluster, set, store, folder }, job, cleaner);
  }

  /** Starts `berth slots …` as the job `suffix:run`. */
  slots(args: readonly string[], env: NodeJS.ProcessEnv = {}): Process {
    const started = new Process(berthPath, ["slots", ...args], { ...this.env, ...env });
    this.#children.add(started);
    return started;
  }

  /** `berth slots …` on a terminal of its own. */
  onTerminal(commandLine: string): Process {
    const started = onTerminal(commandLine, this.env);
    this.#children.add(started);
    return started;
  }

  /** Runs a command to its end, in this process if that is possible. */
  async done(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Finished> {
    const all = { ...this.env, ...env };
    const line = ["slots", ...args];
    return canRunInProcess(line, all) ? runInProcess(line, all) : finished(this.slots(args, env));
  }

  get env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      HOME: this.folder,
      TMPDIR: this.folder,
      KUBECONFIG: this.jobConfig,
      SLOT_NAMESPACE: this.set.namespace,
      MAX_SLOTS: String(this.set.count),
      CLUSTER_SUFFIX: "pr1",
      GITHUB_RUN_ID: "1",
    };
  }

  /** As an administrator, in this namespace. */
  kubectl(...args: string[]): { readonly stdout: string; readonly stderr: string } {
    const file = join(this.cluster.binaries, "kubectl");
    const all = ["--kubeconfig", this.cluster.adminConfig, "-n", this.set.namespace, ...args];
    return spawnSync(file, all, { encoding: "utf8", env: this.env });
  }

  /** A slot as the scripts make it, or with more than they write. */
  script(slot: number, holder: string, spec: LeaseSpec = {}): Promise<LeaseObject> {
    const { namespace, prefix, app } = this.set;
    return this.store.create({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: `${prefix}-${slot}`, namespace, labels: { app, slot: String(slot) } },
      spec: { holderIdentity: holder, leaseDurationSeconds: 7_200, ...spec },
    });
  }

  async slot(number: number): Promise<LeaseObject | undefined> {
    return this.store.get(`${this.set.prefix}-${number}`);
  }

  async holders(): Promise<(string | undefined)[]> {
    const { items } = await this.store.list();
    const slots = items.filter(({ metadata }) => /-slot-\d+$/.test(metadata.name));
    return slots.map(({ spec }) => spec?.holderIdentity);
  }

  async tickets(): Promise<readonly LeaseObject[]> {
    const { items } = await this.store.list();
    return items.filter(({ metadata }) => metadata.name.includes("-wait-"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child, ended } of this.#children) {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function kindIn(namespace: string) {
  return {
    group: "hypershift.openshift.io",
    version: "v1beta1",
    plural: "hostedclusters",
    namespace,
    tag: "berth",
  };
}

/** A token as the API server gives it to the pods of an account. */
export async function accountConfig(
  cluster: KubeCluster,
  namespace: string,
  name: string,
): Promise<string> {
  const path = ["api", "v1", "namespaces", namespace, "serviceaccounts", name, "token"];
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const [made] = await cluster.create(path, body);
  const token = made !== undefined && "status" in made ? made.status : undefined;
  const text = typeof token === "object" && token !== null && "token" in token ? token.token : "";
  return cluster.configFor(`${namespace}-${name}`, String(text));
}

const places: Readonly<Record<string, readonly string[]>> = {
  ServiceAccount: ["api", "v1"],
  ResourceQuota: ["api", "v1"],
  Role: ["apis", "rbac.authorization.k8s.io", "v1"],
  RoleBinding: ["apis", "rbac.authorization.k8s.io", "v1"],
  ClusterRole: ["apis", "rbac.authorization.k8s.io", "v1"],
  ClusterRoleBinding: ["apis", "rbac.authorization.k8s.io", "v1"],
};

/** As `kubectl apply` would; those for the whole cluster get a name for each namespace. */
export async function apply(cluster: KubeCluster, objects: readonly object[]): Promise<void> {
  let namespaceOfAll = "";
  for (const object of objects as KubeObject[]) {
    const { kind = "", metadata } = object;
    const { namespace } = metadata;
    namespaceOfAll = namespace ?? namespaceOfAll;
    const plural = `${kind.toLowerCase()}s`;
    if (namespace !== undefined) {
      await cluster.create([...(places[kind] ?? []), "namespaces", namespace, plural], object);
      continue;
    }
    const name = `${metadata.name}-${namespaceOfAll}`;
    const renamed = JSON.parse(
      JSON.stringify(object).replaceAll(`"${metadata.name}"`, `"${name}"`),
    );
    await cluster.create([...(places[kind] ?? []), plural], renamed);
  }
}
