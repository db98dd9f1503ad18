/** One frame for all drivers on hubs: their back ends, played by a test, and what can go wrong with each. */
import { instanceKind } from "../src/drivers/caas/objects.ts";
import { claimKind, deploymentKind } from "../src/drivers/hive/objects.ts";
import type { Kind } from "../src/drivers/hub/kind.ts";
import { brokerLabel } from "../src/drivers/hub/ownership.ts";
import { hostedClusterKind } from "../src/drivers/hypershift/objects.ts";
import type { KubeObject } from "../src/kubernetes/kube-objects.ts";
import type { KubeCluster } from "./kube-cluster.ts";
import { ScriptedOperator } from "./scripted-caas.ts";
import { kinds as capiKinds, ScriptedClusterApi } from "./scripted-cluster-api.ts";
import { ScriptedHive } from "./scripted-hive.ts";
import type { ScriptedHub } from "./scripted-hub.ts";
import { ScriptedHyperShift } from "./scripted-hypershift.ts";

interface Levers {
  /** While true, nothing becomes ready. */
  hold(on: boolean): void;
  /** While true, clusters are destroyed no further: their finalizers stay. */
  stick(on: boolean): void;
}

/** A back end in a namespace of its own. */
export interface HubWorld extends Levers, AsyncDisposable {
  readonly namespace: string;
  readonly controllers: ScriptedHub;
  /** What to change in the template of the example. */
  readonly more: object;
  /** The object that is the cluster. */
  main(name: string): Promise<KubeObject | undefined>;
  readonly kind: Kind;
}

export interface HubDriverRow {
  /** The template of the example. */
  readonly template: string;
  open(cluster: KubeCluster): Promise<HubWorld>;
}

function worldOf(
  { namespace, controllers, kind, more = {} }: Omit<WorldParts, keyof Levers>,
  levers: Levers,
  within: (name: string) => string = () => namespace,
): HubWorld {
  return {
    ...{ namespace, controllers, kind, ...levers },
    more: { namespace, broker: namespace, ...more },
    main: (name) => controllers.api.find(kind, name, { namespace: within(name) }),
    [Symbol.asyncDispose]: () => controllers[Symbol.asyncDispose](),
  };
}

interface WorldParts extends Levers {
  readonly namespace: string;
  readonly controllers: ScriptedHub;
  readonly kind: Kind;
  readonly more?: object;
}

const rows: Readonly<Record<string, HubDriverRow>> = {
  "hive, claims": {
    template: "claimed",
    async open(cluster) {
      const namespace = await cluster.namespace();
      const controllers = new ScriptedHive(cluster, namespace);
      await controllers.pool("p", { product: "ocp", cloud: "aws", version: "4.20" }, 1);
      return worldOf(
        { namespace, controllers, kind: claimKind },
        {
          hold: (on) => {
            controllers.wakes = !on;
          },
          stick: (on) => {
            controllers.deprovisions = !on;
          },
        },
      );
    },
  },
  "hive, deployments": {
    template: "installed",
    async open(cluster) {
      const namespace = await cluster.namespace();
      const controllers = new ScriptedHive(cluster, namespace, `${brokerLabel}=${namespace}`);
      return worldOf(
        { namespace, controllers, kind: deploymentKind },
        {
          hold: (on) => {
            controllers.wakes = !on;
          },
          stick: (on) => {
            controllers.deprovisions = !on;
          },
        },
        (name) => name,
      );
    },
  },
  hypershift: {
    template: "hosted",
    async open(cluster) {
      const namespace = await cluster.namespace();
      const controllers = new ScriptedHyperShift(cluster, namespace);
      controllers.controlPlanes = false; // Namespaces go away slowly.
      return worldOf(
        { namespace, controllers, kind: hostedClusterKind },
        {
          hold: (on) => {
            controllers.nodes = !on;
          },
          stick: (on) => {
            controllers.cleansUp = !on;
          },
        },
      );
    },
  },
  caas: {
    template: "template",
    async open(cluster) {
      const [namespace, argoNamespace] = [await cluster.namespace(), await cluster.namespace()];
      const controllers = new ScriptedOperator(cluster, namespace, argoNamespace);
      return worldOf(
        { namespace, controllers, kind: instanceKind, more: { argoNamespace } },
        {
          hold: (on) => {
            controllers.ends = on ? "ClusterInstalling" : "Ready";
          },
          stick: (on) => {
            controllers.removes = !on;
          },
        },
      );
    },
  },
  "cluster-api": {
    template: "capi",
    async open(cluster) {
      const namespace = await cluster.namespace();
      const controllers = new ScriptedClusterApi(cluster, namespace);
      return worldOf(
        { namespace, controllers, kind: capiKinds.cluster },
        {
          hold: (on) => {
            controllers.workers = !on;
          },
          stick: (on) => {
            controllers.removesMachines = !on;
          },
        },
      );
    },
  },
};

export const hubDrivers = Object.entries(rows);
