/**
 * A hub with Hive's own controllers and definitions, on an API server of its own: they would take the clusters of other
 * tests. Its clusters are fake, so nothing talks to a cloud. Nobody runs the Jobs of an API server without nodes; the
 * hub does what they would do.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { pause } from "../src/client/pause.ts";
import {
  type ClusterDeployment,
  type ClusterDeprovision,
  type ClusterPool,
  type ClusterProvision,
  deploymentKind,
  deprovisionKind,
  poolKind,
  provisionKind,
} from "../src/drivers/hive/objects.ts";
import type { Condition } from "../src/drivers/hub/conditions.ts";
import { type Kind, namespaceKind, secretKind } from "../src/drivers/hub/kind.ts";
import type { KubeObject } from "../src/kubernetes/kube-objects.ts";
import { HiveProgram, hiveFolder, hiveNamespace } from "./hive-program.ts";
import { KubeCluster } from "./kube-cluster.ts";
import { ScriptedHub } from "./scripted-hub.ts";

const imageSetKind: Kind = {
  ...{ group: "hive.openshift.io", version: "v1", from: "Hive" },
  ...{ kind: "ClusterImageSet", plural: "clusterimagesets" },
};
const jobKind: Kind = {
  ...{ group: "batch", version: "v1", kind: "Job", plural: "jobs", from: "Kubernetes" },
};
const setKind: Kind = {
  ...{ group: "apps", version: "v1", kind: "StatefulSet", plural: "statefulsets" },
  from: "Kubernetes",
};

export const fakeCluster = { "hive.openshift.io/fake-cluster": "true" };
export const imageSet = "openshift-v4.20.1";

interface Job extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** One that Hive can read. */
export const kubeconfigOf = (name: string) =>
  JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    clusters: [{ name, cluster: { server: `https://api.${name}.example.com:6443` } }],
    contexts: [{ name, context: { cluster: name, user: "admin" } }],
    users: [{ name: "admin", user: { token: `token-of-${name}` } }],
  });

export class HiveHub extends ScriptedHub {
  readonly cluster: KubeCluster;
  readonly #program: HiveProgram;
  /** While false, no install gets further. */
  installs = true;
  /** Installs of these clusters fail. */
  readonly failing = new Set<string>();
  /** While false, no deprovision completes. */
  deprovisions = true;

  private constructor(cluster: KubeCluster) {
    super(cluster);
    this.cluster = cluster;
    this.#program = new HiveProgram(cluster.adminConfig, cluster.folder);
    this.run(() => this.#install());
    this.run(() => this.#deprovision());
  }

  static async start(): Promise<HiveHub> {
    const cluster = await KubeCluster.start({ controllers: true });
    try {
      await installHive(cluster);
      const hub = new HiveHub(cluster);
      await hub.make(imageSetKind, imageSet, {
        spec: { releaseImage: "example.com/release:4.20" },
      });
      return hub;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What Hive's controllers said last, for those who look into a failure. */
  get log(): string {
    return this.#program.log;
  }

  /** A namespace with what its pools need. */
  async pools(): Promise<string> {
    const namespace = await this.cluster.namespace();
    const within = { namespace };
    const key = { aws_access_key_id: "none", aws_secret_access_key: "none" };
    await this.make(secretKind, "aws-creds", { stringData: key }, within);
    const pull = {
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": "{}" },
    };
    await this.make(secretKind, "pull-secret", pull, within);
    return namespace;
  }

  async pool(namespace: string, name: string, labels: object, spec: object): Promise<void> {
    const whole = {
      ...{ baseDomain: "example.com", imageSetRef: { name: imageSet }, skipMachinePools: true },
      platform: { aws: { region: "us-east-1", credentialsSecretRef: { name: "aws-creds" } } },
      ...{ pullSecretRef: { name: "pull-secret" }, annotations: fakeCluster, ...spec },
    };
    await this.make(poolKind, name, { metadata: { labels }, spec: whole }, { namespace });
  }

  async stock(namespace: string, name: string): Promise<ClusterPool["status"]> {
    return (await this.api.find<ClusterPool>(poolKind, name, { namespace }))?.status;
  }

  deployments(): Promise<readonly ClusterDeployment[]> {
    return this.api.list<ClusterDeployment>(deploymentKind);
  }

  /** The Job that finds the images of a release, and then the one that installs. */
  async #install(): Promise<void> {
    if (!this.installs) return;
    for (const job of await this.api.list<Job>(jobKind)) {
      const { labels = {}, namespace = "" } = job.metadata;
      if (labels["hive.openshift.io/job-type"] !== "imageset" || isFinished(job)) continue;
      const [cluster] = await this.api.list(deploymentKind, { namespace });
      if (cluster === undefined) continue;
      const images = {
        ...{ installerImage: "example.com/installer", cliImage: "example.com/cli" },
        installVersion: "4.20.1",
      };
      await this.setStatus(deploymentKind, cluster, images);
      await this.#finish(job, "Complete");
    }
    for (const each of await this.api.list<ClusterProvision>(provisionKind)) {
      await this.#provision(each).catch(() => {}); // Changed or gone meanwhile: the next pass looks again.
    }
  }

  async #provision(found: ClusterProvision): Promise<void> {
    const { name: own, namespace = "" } = found.metadata;
    const { stage, infraID, clusterDeploymentRef } = found.spec as ProvisionSpec;
    const jobName = (found as { status?: { jobRef?: { name?: string } } }).status?.jobRef?.name;
    const job = jobName && (await this.api.find<Job>(jobKind, jobName, { namespace }));
    if (!job || isFinished(job)) return;
    const { name } = clusterDeploymentRef;
    if (this.failing.has(name)) {
      await this.change(provisionKind, found, { spec: { installLog: "level=error msg=no quota" } });
      await this.#finish(job, "Failed");
    } else if (stage === "initializing" && infraID === undefined) {
      await this.#access(own, name);
      const spec = {
        ...{ infraID: `${name}-x1`, clusterID: name, metadata: {} },
        installLog: "level=info msg=Install complete!",
        adminKubeconfigSecretRef: { name: `${own}-admin-kubeconfig` },
        adminPasswordSecretRef: { name: `${own}-admin-password` },
      };
      await this.change(provisionKind, found, { spec });
    } else if (stage === "provisioning") {
      await this.#finish(job, "Complete");
    }
  }

  /** Both Secrets, as the installer's pod writes them. */
  async #access(provision: string, cluster: string): Promise<void> {
    const within = { namespace: cluster };
    const user = { username: "kubeadmin", password: `password-of-${cluster}` };
    const contents = {
      "admin-kubeconfig": { kubeconfig: kubeconfigOf(cluster) },
      "admin-password": user,
    };
    for (const [end, stringData] of Object.entries(contents)) {
      const name = `${provision}-${end}`;
      if ((await this.api.find(secretKind, name, within)) === undefined) {
        await this.make(secretKind, name, { stringData }, within);
      }
    }
  }

  /** As the controller of Jobs would write it; the API server checks that all belongs together. */
  async #finish(job: Job, how: "Complete" | "Failed"): Promise<void> {
    const at = new Date().toISOString();
    const type = how === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    const conditions = [type, how].map((each) => {
      return { type: each, status: "True", lastTransitionTime: at, reason: "Test" };
    });
    const completionTime = how === "Complete" ? { completionTime: at } : {};
    await this.setStatus(jobKind, job, { startTime: at, conditions, ...completionTime });
  }

  async #deprovision(): Promise<void> {
    if (!this.deprovisions) return;
    for (const each of await this.api.list<ClusterDeprovision>(deprovisionKind)) {
      if (each.status?.completed === true) continue;
      await this.setStatus(deprovisionKind, each, { completed: true });
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#program[Symbol.asyncDispose]();
    await this.cluster[Symbol.asyncDispose]();
  }
}

interface ProvisionSpec {
  readonly stage?: string;
  readonly infraID?: string;
  readonly clusterDeploymentRef: { readonly name: string };
}

function isFinished({ status }: Job): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === "Complete" || type === "Failed");
}

/** Hive's definitions, and the objects that its controllers ask for. */
async function installHive(cluster: KubeCluster): Promise<void> {
  const definitions = ["apis", "apiextensions.k8s.io", "v1", "customresourcedefinitions"];
  const api = await cluster.admin();
  const files = globSync("kinds/*.yaml", { cwd: hiveFolder });
  const read = files.map(
    (file) => parse(readFileSync(join(hiveFolder, file), "utf8")) as Definition,
  );
  await cluster.create(definitions, ...read);
  for (const { spec } of read) {
    for (const { name } of spec.versions) {
      while (
        !(await api.call({ path: ["apis", spec.group, name, spec.names.plural] }).then(yes, no))
      )
        await pause(50);
    }
  }
  const path = ["api", "v1", namespaceKind.plural];
  await cluster.create(path, { metadata: { name: hiveNamespace } });
  const labels = { app: "hive-clustersync" };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: "none", image: "none" }] },
  };
  const within = ["apis", "apps", "v1", "namespaces", hiveNamespace, setKind.plural];
  const [set] = await cluster.create(within, {
    metadata: { name: "hive-clustersync" },
    spec: { replicas: 1, serviceName: "none", selector: { matchLabels: labels }, template },
  });
  const body = { ...set, status: { replicas: 1, currentReplicas: 1, readyReplicas: 1 } };
  await api.call({ method: "PUT", path: [...within, "hive-clustersync", "status"], body });
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string }[];
  };
}

const yes = () => true;
const no = () => false;
