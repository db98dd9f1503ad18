import type { KubeConfig } from "@kubernetes/client-node";
import { NoKubeConfig } from "./errors.ts";

/** Selects the API server. The default is the same as for `kubectl`. */
export interface Place {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Loads the named file, `KUBECONFIG`, `~/.kube/config`, or the service account of the pod. */
export function loadKubeConfig(config: KubeConfig, { kubeconfig, context }: Place): KubeConfig {
  try {
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
  } catch (error) {
    throw new NoKubeConfig(error instanceof Error ? error.message : String(error), error);
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      throw new NoKubeConfig(`it has no context "${context}"`);
    }
    config.setCurrentContext(context);
  }
  const server = config.getCurrentCluster()?.server;
  // The package uses this value if it finds no configuration at all.
  if (server === undefined) throw new NoKubeConfig("it names no cluster");
  if (server === "http://localhost:8080") throw new NoKubeConfig("there is none");
  // In a pod without the service variables, the package puts "undefined" into the address.
  if (/\bundefined\b/.test(server)) {
    const state = "KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is missing in this pod";
    throw new NoKubeConfig(state);
  }
  return config;
}
