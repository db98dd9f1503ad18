/** The provisioner in a server: its work is in the broker, its secrets are in the vault. */
import type { Logger } from "pino";
import type { Broker } from "../broker/broker.ts";
import type { TemplateSpec } from "../config/template-spec.ts";
import { instancesOf } from "../core/explain/cluster-view.ts";
import type { ClusterLogs } from "../evidence/cluster-logs.ts";
import type { HubClusters } from "../http/clusters/hub-clusters.ts";
import type { TemplateInfo } from "../http/clusters/template-info.ts";
import type { TemplateReports } from "../http/clusters/template-reports.ts";
import { maskOf } from "../vault/secret-patterns.ts";
import type { SecretStores } from "../vault/secret-stores.ts";
import { readRef } from "../vault/space-credentials.ts";
import { provisionerName } from "../workers/provisioner/broker-task.ts";
import { BrokerWork } from "../workers/provisioner/broker-work.ts";
import type { ClusterStores } from "../workers/provisioner/cluster-stores.ts";
import { MissingDependency } from "../workers/provisioner/credentials.ts";
import { Provisioner, type ProvisionerConfig } from "../workers/provisioner/provisioner.ts";
import { SecretHashes } from "../workers/provisioner/secret-hashes.ts";
import type { ServerVault } from "./server-vault.ts";
import { logProvisioner } from "./worker-logs.ts";

export interface ProvisionerParts {
  readonly vault: SecretStores;
  readonly clusterLogs: Pick<ClusterLogs, "put">;
  readonly hubClusters: Pick<HubClusters, "put">;
  readonly templateReports: Pick<TemplateReports, "put">;
  readonly logger: Logger;
  /** Undefined: nothing is kept on disk. */
  readonly folder: string | undefined;
  /** No other server uses the journal, so that leases of an earlier provisioner are left over. */
  readonly isAlone: boolean;
}

/** Looks at the Secrets of Kubernetes that templates refer to. */
export function watchedSecrets({ parts }: ServerVault, logger: Logger): SecretHashes {
  const failed = (err: unknown) => logger.error({ err }, "the hash of a Secret cannot be kept");
  return new SecretHashes(parts.vault.hashes, { failed });
}

export function startProvisioner(
  broker: Broker,
  { vault, clusterLogs, hubClusters, templateReports, logger, folder, isAlone }: ProvisionerParts,
  config: ProvisionerConfig,
): Provisioner {
  const stores: ClusterStores = {
    putAccess: (instance, bundle) => vault.access.put(instance, bundle),
    putLogs: ({ resource, pool, instance, space }, why, text) =>
      clusterLogs.put({ name: resource, pool, instance, space, atMs: broker.now(), why, text }),
    putHubClusters: (hub, clusters) =>
      broker.read((state) => hubClusters.put(hub, clusters, instancesOf(state))),
    putUnusable: (templates) => templateReports.put(provisionerName, templates, broker.now()),
    openCredentials: async (reference) => {
      const ref = readRef(reference);
      const values = ref && (await vault.credentials.open(ref));
      if (values !== undefined) return values;
      const state = "the space has not stored them";
      throw new MissingDependency(`Cannot use the credentials ${reference}: ${state}`);
    },
    checks: vault.checks,
    credentialsNamed: (name) => vault.credentials.named(name),
  };
  const work = new BrokerWork(broker, stores, { isAlone });
  return new Provisioner(work, config, {
    ...logProvisioner(logger),
    mask: maskOf(vault.redactor),
    ...(folder === undefined ? undefined : { folder }),
  });
}

/** A template as everybody may see it. */
export function templateInfo(spec: TemplateSpec): TemplateInfo {
  const { name, how, revision, parameters, pinned, ownCredentials } = spec;
  const { cost, hibernates, validates, limits } = spec;
  return {
    ...{ name, driver: how.driver, revision, parameters, pinned: Object.keys(pinned) },
    ...{ ownCredentials, cost, hibernates, validates, limits },
  };
}
