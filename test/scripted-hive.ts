/** Hive's controllers, played by a test: pools, claims, installs, power states, deprovisioning. */

import {
  type ClusterClaim,
  type ClusterDeployment,
  type ClusterDeprovision,
  type ClusterPool,
  claimKind,
  deploymentKind,
  deploymentNameLabel,
  deprovisionKind,
  poolKind,
  provisionKind,
} from "../src/drivers/hive/objects.ts";
import { conditionOf } from "../src/drivers/hub/conditions.ts";
import { type Kind, namespaceKind, secretKind } from "../src/drivers/hub/kind.ts";
import { labelSelector } from "../src/drivers/hub/label-selector.ts";
import type { KubeCluster } from "./kube-cluster.ts";
import { ScriptedHub } from "./scripted-hub.ts";

const deprovisionFinalizer = "hive.openshift.io/deprovision";
const claimFinalizer = "hive.openshift.io/claim";
/** Newer versions put both on the clusters of pools; here they also say which script works on a cluster. */
const poolNamespaceLabel = "hive.openshift.io/clusterpool-namespace";
const poolNameLabel = "hive.openshift.io/clusterpool-name";

const claimOwner = "hive-claim-owner";
const rbac = { group: "rbac.authorization.k8s.io", version: "v1", from: "Kubernetes" };
const roleKind: Kind = { ...rbac, kind: "Role", plural: "roles" };
const bindingKind: Kind = { ...rbac, kind: "RoleBinding", plural: "rolebindings" };

export const kubeconfigOf = (name: string) =>
  `# kubeconfig of ${name}\nclusters: [{ name: c, cluster: { server: "https://${name}:6443" } }]\n`;

const resumeStates = [
  ...["StartingMachines", "WaitingForMachines", "WaitingForNodes"],
  ...["PausingForClusterOperatorsToSettle", "WaitingForClusterOperators"],
];

export class ScriptedHive extends ScriptedHub {
  /** Selects the ClusterDeployments that this Hive works on. */
  readonly #selector: string;
  readonly #namespace: string;
  #made = 0;
  /** While false, nothing is assigned. */
  assigns = true;
  /** While false, clusters stay where they are on their way to running. */
  wakes = true;
  /** While false, a deprovision does not complete. */
  deprovisions = true;
  /** Without one, Hive never says where the API of a cluster is. */
  hasConsole = true;
  /** Installs end so: the reason of ProvisionStopped. */
  installFails: string | undefined;
  /** What the driver saw on its way to ready, by cluster. */
  readonly stages = new Map<string, number>();

  constructor(cluster: KubeCluster, namespace: string, selector?: string) {
    super(cluster);
    this.#namespace = namespace;
    this.#selector = selector ?? labelSelector({ [poolNamespaceLabel]: namespace });
    this.run(() => this.#claims());
    this.run(() => this.#deployments());
  }

  async pool(name: string, labels: Record<string, string>, ready: number, more: object = {}) {
    const spec = {
      ...{ size: ready, baseDomain: "example.com", imageSetRef: { name: "x" }, platform: {} },
      ...more,
    };
    const within = { namespace: this.#namespace };
    await this.make(poolKind, name, { metadata: { labels }, spec }, within);
    for (let made = 0; made < ready; made++) await this.stock(name, true);
    await this.#count(name);
  }

  /** A cluster of the pool, asleep or awake. */
  async stock(pool: string, running: boolean): Promise<string> {
    const name = `${pool}-${this.#namespace}-${++this.#made}`;
    const namespace = this.#namespace;
    await this.make(namespaceKind, name, {});
    const labels = { [poolNamespaceLabel]: namespace, [poolNameLabel]: pool };
    const metadata = { labels, finalizers: [deprovisionFinalizer] };
    const spec = {
      ...{ baseDomain: "example.com", clusterName: name, platform: {} },
      ...{ installed: true, powerState: running ? "Running" : "Hibernating" },
      clusterPoolRef: { namespace, poolName: pool },
    };
    await this.make(deploymentKind, name, { metadata, spec }, { namespace: name });
    await this.#installed({ metadata: { name, namespace: name } });
    return name;
  }

  deployment(name: string): Promise<ClusterDeployment | undefined> {
    return this.api.find<ClusterDeployment>(deploymentKind, name, { namespace: name });
  }

  async #count(pool: string): Promise<void> {
    const found = await this.api.find<ClusterPool>(poolKind, pool, { namespace: this.#namespace });
    if (found === undefined) return;
    const labels = labelSelector({ [poolNamespaceLabel]: this.#namespace, [poolNameLabel]: pool });
    const all = await this.api.list<ClusterDeployment>(deploymentKind, { labels });
    const idle = all.filter(({ spec }) => spec?.clusterPoolRef?.claimName === undefined);
    const ready = idle.filter(({ status }) => status?.powerState === "Running").length;
    if (found.status?.ready === ready) return;
    await this.setStatus(poolKind, found, { ready, size: idle.length, standby: 0 });
  }

  /** First come, first served; the claim is written first, its cluster in a later pass. */
  async #claims(): Promise<void> {
    const namespace = this.#namespace;
    const claims = await this.api.list<ClusterClaim>(claimKind, { namespace });
    const clusters = await this.api.list<ClusterDeployment>(deploymentKind, {
      labels: this.#selector,
    });
    for (const { metadata } of await this.api.list(poolKind, { namespace })) {
      await this.#count(metadata.name);
    }
    const taken = new Set(claims.map(({ spec }) => spec?.namespace));
    for (const claim of claims) {
      const { deletionTimestamp, name } = claim.metadata;
      const own = clusters.find(({ metadata }) => metadata.name === claim.spec?.namespace);
      if (deletionTimestamp !== undefined) {
        if (own === undefined) await this.dropFinalizers(claimKind, claim);
        else {
          await this.#revoke(own.metadata.name);
          await this.api.remove(deploymentKind, own);
        }
        continue;
      }
      if (await this.addFinalizer(claimKind, claim, claimFinalizer)) continue;
      if (!this.assigns) continue;
      if (own !== undefined) {
        await this.#link(claim, own);
        continue;
      }
      const pool = claim.spec?.clusterPoolName ?? "";
      const next = clusters.find(
        ({ metadata, spec, status }) =>
          metadata.labels?.[poolNameLabel] === pool &&
          spec?.clusterPoolRef?.claimName === undefined &&
          !taken.has(metadata.name) &&
          status?.powerState === "Running",
      );
      if (next === undefined) {
        if (conditionOf(claim, "Pending")?.reason !== "NoClusters") {
          const pending = { type: "Pending", status: "True", reason: "NoClusters" };
          await this.setCondition(claimKind, claim, pending);
        }
        continue;
      }
      taken.add(next.metadata.name);
      await this.change(claimKind, claim, { spec: { namespace: next.metadata.name } });
      // It says so at once, whatever the cluster does.
      const runs = { type: "ClusterRunning", status: "True", reason: "Running" };
      await this.setCondition(claimKind, { ...claim, metadata: { ...claim.metadata, name } }, runs);
    }
  }

  /** Whom a claim names may use its cluster, until the claim is deleted. */
  async #grant({ spec }: ClusterClaim, cluster: string): Promise<void> {
    const subjects = (spec as { subjects?: readonly object[] } | undefined)?.subjects ?? [];
    const all = ["*"];
    const secrets = ["admin-kubeconfig", "admin-password"].map((end) => `${cluster}-0-${end}`);
    const rules = [
      { apiGroups: ["hive.openshift.io"], resources: all, verbs: all },
      { apiGroups: [""], resources: ["secrets"], resourceNames: secrets, verbs: ["get"] },
    ];
    const within = { namespace: cluster };
    await this.make(roleKind, claimOwner, { rules }, within);
    const roleRef = { apiGroup: rbac.group, kind: "Role", name: claimOwner };
    await this.make(bindingKind, claimOwner, { roleRef, subjects }, within);
  }

  async #revoke(cluster: string): Promise<void> {
    for (const kind of [bindingKind, roleKind]) {
      const found = await this.api.find(kind, claimOwner, { namespace: cluster });
      if (found !== undefined) await this.api.remove(kind, found);
    }
  }

  async #link(claim: ClusterClaim, own: ClusterDeployment): Promise<void> {
    const { metadata } = claim;
    const ref = own.spec?.clusterPoolRef;
    if (ref === undefined || ref.claimName === metadata.name) return;
    await this.#grant(claim, own.metadata.name);
    // What had run has to be woken after all.
    await this.setStatus(deploymentKind, own, { powerState: "WaitingForNodes" });
    await this.change(deploymentKind, own, {
      spec: { clusterPoolRef: { ...ref, claimName: metadata.name }, powerState: "Running" },
    });
  }

  async #deployments(): Promise<void> {
    const found = await this.api.list<ClusterDeployment>(deploymentKind, {
      labels: this.#selector,
    });
    for (const each of found) {
      if (each.metadata.deletionTimestamp !== undefined) await this.#deprovision(each);
      else if (each.spec?.installed !== true) await this.#install(each);
      else await this.#power(each);
    }
  }

  async #install(found: ClusterDeployment): Promise<void> {
    const { name } = found.metadata;
    if (await this.addFinalizer(deploymentKind, found, deprovisionFinalizer)) return;
    const stage = (this.stages.get(name) ?? 0) + 1;
    this.stages.set(name, stage);
    if (stage === 1) {
      const labels = { [deploymentNameLabel]: name };
      const spec = {
        ...{ attempt: 0, stage: "provisioning", clusterDeploymentRef: { name } },
        ...{ podSpec: { containers: [] }, installLog: "level=info msg=Creating infrastructure" },
      };
      await this.make(
        provisionKind,
        `${name}-0`,
        { metadata: { labels }, spec },
        { namespace: name },
      );
      const going = { type: "Provisioned", status: "False", reason: "Provisioning" };
      return this.setCondition(deploymentKind, found, going);
    }
    if (this.installFails !== undefined) {
      const reason = this.installFails;
      const stopped = { type: "ProvisionStopped", status: "True", reason };
      return this.setCondition(deploymentKind, found, {
        ...stopped,
        message: "attempts exhausted",
      });
    }
    if (stage < 4) return;
    await this.#installed(found);
    await this.change(deploymentKind, found, { spec: { installed: true } });
  }

  /** Both Secrets, and where they are. */
  async #installed({ metadata }: Pick<ClusterDeployment, "metadata">): Promise<void> {
    const { name } = metadata;
    const within = { namespace: name };
    const [kubeconfig, password] = [`${name}-0-admin-kubeconfig`, `${name}-0-admin-password`];
    await this.make(
      secretKind,
      kubeconfig,
      { stringData: { kubeconfig: kubeconfigOf(name) } },
      within,
    );
    const user = { username: "kubeadmin", password: `password-of-${name}` };
    await this.make(secretKind, password, { stringData: user }, within);
    await this.change(
      deploymentKind,
      { metadata: { name, namespace: name } },
      {
        spec: {
          clusterMetadata: {
            ...{ clusterID: name, infraID: `${name}-x1` },
            adminKubeconfigSecretRef: { name: kubeconfig },
            adminPasswordSecretRef: { name: password },
          },
        },
      },
    );
  }

  /** One state in each pass, and the condition Ready in the pass after the last. */
  async #power(found: ClusterDeployment): Promise<void> {
    const wanted = found.spec?.powerState || "Running";
    const seen = found.status?.powerState ?? "";
    const stopped = { type: "Hibernating", reason: wanted };
    if (wanted === "Hibernating") {
      if (seen === "Hibernating") return;
      const powerState =
        seen === "WaitingForMachinesToStop" ? "Hibernating" : "WaitingForMachinesToStop";
      const status = powerState === "Hibernating" ? "True" : "False";
      const ready = {
        type: "Ready",
        status: "False",
        lastTransitionTime: new Date().toISOString(),
      };
      const conditions = [ready, { ...stopped, status }];
      return this.setStatus(deploymentKind, found, { powerState, conditions });
    }
    if (!this.wakes) return;
    if (seen === "Running") {
      const isReady = conditionOf(found, "Ready")?.status === "True";
      if (isReady && conditionOf(found, "Hibernating")?.status !== "True") return;
      const conditions = [
        { type: "Ready", status: "True" },
        { ...stopped, status: "False" },
      ];
      const address = this.hasConsole && { apiURL: "https://api.example.com" };
      return this.setStatus(deploymentKind, found, { conditions, ...address });
    }
    const step = resumeStates.indexOf(seen) + 1;
    const powerState = resumeStates[step] ?? "Running";
    await this.setStatus(deploymentKind, found, { powerState });
  }

  async #deprovision(found: ClusterDeployment): Promise<void> {
    const { name } = found.metadata;
    const within = { namespace: name };
    const job = await this.api.find<ClusterDeprovision>(deprovisionKind, name, within);
    if (job === undefined) {
      await this.make(deprovisionKind, name, { spec: { infraID: `${name}-x1` } }, within);
    } else if (job.status?.completed === true) {
      await this.dropFinalizers(deploymentKind, found);
      await this.#tidy(found);
    } else if (this.deprovisions) {
      await this.setStatus(deprovisionKind, job, { completed: true });
    }
  }

  /** Hive removes the namespaces of its pools; others stay. */
  async #tidy({ metadata, spec }: ClusterDeployment): Promise<void> {
    if (spec?.clusterPoolRef === undefined) return;
    const namespace = await this.api.find(namespaceKind, metadata.name);
    if (namespace !== undefined) await this.api.remove(namespaceKind, namespace);
  }
}
