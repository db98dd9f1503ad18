/** The operator of cluster templates, and Argo CD, played by a test with the flaws they have. */
import {
  type Application,
  applicationKind,
  type ClusterTemplateInstance,
  instanceKind,
  instanceNameLabel,
  instanceNamespaceLabel,
} from "../src/drivers/caas/objects.ts";
import { secretKind } from "../src/drivers/hub/kind.ts";
import { hostedClusterKind } from "../src/drivers/hypershift/objects.ts";
import type { KubeCluster } from "./kube-cluster.ts";
import { hostedClusterSpec } from "./kube-kinds.ts";
import { ScriptedHub } from "./scripted-hub.ts";

const finalizer = "clustertemplateinstance.openshift.io/finalizer";
const phases = ["ClusterDefinitionFailed", "ClusterInstalling", "ClusterInstallFailed"];

export class ScriptedOperator extends ScriptedHub {
  readonly #namespace: string;
  readonly #argo: string;
  readonly #passes = new Map<string, number>();
  /** Where every instance ends. */
  ends = "Ready";
  /** The reason of a failed install, and since when. */
  reason = { reason: "ClusterInstalling", lastTransitionTime: new Date().toISOString() };
  /** While false, neither the Application nor its cluster goes away. */
  removes = true;

  constructor(cluster: KubeCluster, namespace: string, argo: string) {
    super(cluster);
    this.#namespace = namespace;
    this.#argo = argo;
    this.run(() => this.#instances());
    this.run(() => this.#applications());
  }

  async #instances(): Promise<void> {
    const within = { namespace: this.#namespace };
    for (const each of await this.api.list<ClusterTemplateInstance>(instanceKind, within)) {
      const { name, uid = "", deletionTimestamp } = each.metadata;
      const application = await this.api.find(applicationKind, uid, { namespace: this.#argo });
      if (deletionTimestamp !== undefined) {
        // It does not wait for anything.
        if (application !== undefined) await this.api.remove(applicationKind, application);
        await this.dropFinalizers(instanceKind, each);
        continue;
      }
      if (await this.addFinalizer(instanceKind, each, finalizer)) continue;
      if (application === undefined) {
        await this.#apply(each);
        continue;
      }
      // Its failures come and go.
      const pass = (this.#passes.get(uid) ?? 0) + 1;
      this.#passes.set(uid, pass);
      const phase = phases[pass - 1] ?? this.ends;
      if (each.status?.phase === phase) continue;
      const installed = {
        ...{ type: "ClusterInstallSucceeded", status: phase === "Ready" ? "True" : "False" },
        ...this.reason,
      };
      const access = phase === "Ready" ? await this.#access(name) : {};
      const message = phase === "Ready" ? "" : "the operator's words";
      await this.setCondition(instanceKind, each, installed, { phase, message, ...access });
    }
  }

  /** Argo CD makes a HostedCluster for it, and leaves its deletion to a hook. */
  async #apply({ metadata: { name, uid = "" } }: ClusterTemplateInstance): Promise<void> {
    const labels = { [instanceNameLabel]: name, [instanceNamespaceLabel]: this.#namespace };
    const metadata = { labels, finalizers: ["resources-finalizer.argocd.argoproj.io"] };
    const within = { namespace: this.#argo };
    const made = await this.make(applicationKind, uid, { metadata, spec: {} }, within);
    const spec = hostedClusterSpec;
    const hosted = { metadata: { finalizers: ["hypershift.openshift.io/finalizer"] }, spec };
    await this.make(hostedClusterKind, `hc-${name}`, hosted, within);
    const { group, version, kind } = hostedClusterKind;
    const cluster = { group, version, kind, namespace: this.#argo, name: `hc-${name}` };
    const job = { group: "batch", version: "v1", kind: "Job", namespace: this.#argo, name: "j" };
    await this.setStatus(applicationKind, made, { resources: [job, cluster] });
  }

  async #access(name: string): Promise<object> {
    const within = { namespace: this.#namespace };
    const [config, password] = [`${name}-admin-kubeconfig`, `${name}-admin-password`];
    if ((await this.api.find(secretKind, password, within)) === undefined) {
      await this.make(secretKind, config, { stringData: { kubeconfig: `# of ${name}` } }, within);
      const user = { username: "kubeadmin", password: `pass-${name}` };
      await this.make(secretKind, password, { stringData: user }, within);
    }
    const names = { kubeconfig: { name: config }, adminPassword: { name: password } };
    return { ...names, apiServerURL: "https://api.example.com" };
  }

  /** The Application goes first, the cluster a pass later. */
  async #applications(): Promise<void> {
    if (!this.removes) return;
    const within = { namespace: this.#argo };
    for (const each of await this.api.list<Application>(applicationKind, within)) {
      if (each.metadata.deletionTimestamp === undefined) continue;
      const name = each.metadata.labels?.[instanceNameLabel] ?? "";
      const hosted = await this.api.find(hostedClusterKind, `hc-${name}`, within);
      if (hosted !== undefined) await this.api.remove(hostedClusterKind, hosted);
      await this.dropFinalizers(applicationKind, each);
    }
    for (const each of await this.api.list(hostedClusterKind, within)) {
      if (each.metadata.deletionTimestamp === undefined) continue;
      await this.dropFinalizers(hostedClusterKind, each);
    }
  }
}
