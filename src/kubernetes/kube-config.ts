import type { KubeConfig } from "@kubernetes/client-node";
import { NoKubeConfig } from "./errors.ts";

/** Where the API server is: as `kubectl` finds it, unless told otherwise. */
export interface Place {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** A file that is named, or `KUBECONFIG`, or `~/.kube/config`, or the pod that this runs in. */
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
  // What the package falls back to when it finds nothing at all.
  if (server === undefined) throw new NoKubeConfig("it names no cluster");
  if (server === "http://localhost:8080") throw new NoKubeConfig("there is none");
  // In a pod, where nobody says what the package puts into the address.
  if (/\bundefined\b/.test(server)) {
    const state = "KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is missing in this pod";
    throw new NoKubeConfig(state);
  }
  return config;
}
