/** What a pool needs that is lent only while a real API server's nodes have room. */
import { admissionManifestsOf } from "../src/slots/manifests.ts";
import type { KubeCluster } from "./kube-cluster.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { accountConfig, apply, kindIn } from "./slots-world.ts";

export interface Guard {
  readonly namespace: string;
  /** The only way of its pools to the API server. */
  readonly proxy: KubeProxy;
  /** Of a pool, with more or other keys of `checkCapacity`. */
  admission(more?: object): object;
}

/** A namespace with the account that is shipped, and a way to the API server. */
export async function guardIn(cluster: KubeCluster): Promise<Guard> {
  const namespace = await cluster.namespace();
  const proxy = await KubeProxy.start(cluster);
  const set = { namespace, prefix: "slot", app: "app", count: 2 };
  await apply(cluster, admissionManifestsOf({ set, kind: kindIn(namespace), deleting: 0 }));
  const own = await accountConfig(cluster, namespace, "berth");
  const kubeconfig = await cluster.configVia(proxy.url, own);
  return {
    namespace,
    proxy,
    admission: (more = {}) => {
      const checkCapacity = { kubeconfig, clusterNamespace: namespace, cpu: 3_000, ...more };
      return { checkCapacity, every: "1s" };
    },
  };
}

/** As its kubelet would, once its containers have stopped. */
export async function removePod(
  cluster: KubeCluster,
  namespace: string,
  name: string,
): Promise<void> {
  const path = ["api", "v1", "namespaces", namespace, "pods", name];
  await (await cluster.admin()).call({ method: "DELETE", path, query: { gracePeriodSeconds: 0 } });
}
