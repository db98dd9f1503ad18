/** What claims and single deployments have in common: a ClusterDeployment in a namespace. */
import { Absent, type AccessBundle, Hopeless, type Observation, Retry } from "../driver.ts";
import { readAccess, serverOf } from "../hub/access.ts";
import { complaints } from "../hub/conditions.ts";
import type { HubApi } from "../hub/hub-api.ts";
import { conditionsText, type Source } from "../hub/logs.ts";
import { waitingFor } from "../hub/waiting-for.ts";
import type { SecretMask } from "../secret-mask.ts";
import { cannotHibernate, deploymentPhase, wantedPower } from "./deployment-phase.ts";
import {
  type ClusterDeployment,
  type ClusterDeprovision,
  type ClusterProvision,
  deploymentKind,
  deploymentNameLabel,
  deprovisionKind,
  provisionKind,
} from "./objects.ts";

export class Deployments {
  readonly #hub: HubApi;
  readonly #mask: SecretMask;

  constructor(hub: HubApi, mask: SecretMask) {
    this.#hub = hub;
    this.#mask = mask;
  }

  /** Hive gives a cluster a namespace of its own, with the same name. */
  find(name: string, signal?: AbortSignal): Promise<ClusterDeployment | undefined> {
    return this.#hub.find<ClusterDeployment>(deploymentKind, name, { namespace: name, signal });
  }

  /**
   * Hive writes the address of the API only after it has found the console, which not every cluster has; and it calls a
   * cluster ready before that. The kubeconfig has the address from the beginning.
   */
  async phase(found: ClusterDeployment, signal?: AbortSignal): Promise<Observation> {
    const seen = deploymentPhase(found);
    if (seen.phase !== "ready" || seen.apiUrl !== undefined) return seen;
    try {
      const apiUrl = serverOf((await this.access(found, signal)).kubeconfig);
      return { ...seen, ...(apiUrl !== undefined && { apiUrl }) };
    } catch (error) {
      if (!(error instanceof Retry)) throw error;
      return { phase: "resuming", message: error.message };
    }
  }

  async access(found: ClusterDeployment, signal?: AbortSignal): Promise<AccessBundle> {
    const { adminKubeconfigSecretRef, adminPasswordSecretRef } = found.spec?.clusterMetadata ?? {};
    const kubeconfig = adminKubeconfigSecretRef?.name;
    const { name, namespace } = found.metadata;
    if (kubeconfig === undefined) throw new Retry(`ClusterDeployment ${name} has no access yet`);
    const secrets = { kubeconfig, password: adminPasswordSecretRef?.name };
    const keys = ["kubeconfig", "raw-kubeconfig"];
    return readAccess(this.#hub, this.#mask, { ...secrets, keys }, { namespace, signal });
  }

  async setPower(
    found: ClusterDeployment | undefined,
    power: "Running" | "Hibernating",
    signal?: AbortSignal,
  ): Promise<void> {
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      throw new Absent("There is no ClusterDeployment of this instance");
    }
    if (power === "Hibernating" && cannotHibernate(found)) {
      const state = "Hive cannot stop clusters of its platform";
      throw new Hopeless(`Cannot hibernate ClusterDeployment ${found.metadata.name}: ${state}`);
    }
    if (wantedPower(found) === power) return;
    await this.#hub.patch(deploymentKind, found, { spec: { powerState: power } }, { signal });
  }

  /** Why it is not gone yet, as Hive says it. */
  async destroying(
    found: ClusterDeployment | undefined,
    name: string,
    signal?: AbortSignal,
  ): Promise<Observation> {
    const within = { namespace: name, signal };
    const job = await this.#hub.find<ClusterDeprovision>(deprovisionKind, name, within);
    const blocking = [
      ...(found === undefined ? [] : [waitingFor("ClusterDeployment", found)]),
      ...(found === undefined ? [] : complaints(found, ["DeprovisionLaunchError"], "True")),
      ...(job === undefined || job.status?.completed === true
        ? []
        : [
            `ClusterDeprovision ${name} has not completed`,
            ...complaints(job, ["AuthenticationFailure", "DeprovisionFailed"], "True"),
          ]),
    ];
    return { phase: "destroying", message: blocking.join("; "), blocking };
  }

  /** Whether Hive is still removing what the cluster has in its cloud. */
  async isDeprovisioning(name: string, signal?: AbortSignal): Promise<boolean> {
    const within = { namespace: name, signal };
    const job = await this.#hub.find<ClusterDeprovision>(deprovisionKind, name, within);
    return job !== undefined && job.status?.completed !== true;
  }

  evidence(name: string, signal?: AbortSignal): readonly Source[] {
    const within = (answerMs: number) => ({ namespace: name, signal, answerMs });
    return [
      async (ms) => {
        const labels = `${deploymentNameLabel}=${name}`;
        const found = await this.#hub.list<ClusterProvision>(provisionKind, {
          ...within(ms),
          labels,
        });
        const [last] = found.toSorted((a, b) => (b.spec?.attempt ?? 0) - (a.spec?.attempt ?? 0));
        if (last === undefined) return undefined;
        return `${conditionsText(last)}\n${last.spec?.installLog ?? "[no install log]"}`;
      },
      async (ms) => conditionsText(await this.#hub.find(deprovisionKind, name, within(ms))),
      async (ms) => conditionsText(await this.#hub.find(deploymentKind, name, within(ms))),
    ];
  }
}
