import type { UnusableTemplate } from "../../api/cluster-schemas.ts";
import type { AccessBundle } from "../../drivers/driver.ts";
import type { HubCluster } from "../../drivers/hub/hub-clusters.ts";
import type {
  CheckResult,
  ClusterFacts,
  CredentialCheck,
  SpaceCredentials,
} from "./cluster-work.ts";

/** Where secrets and logs go, beside the journal. */
export interface ClusterStores {
  putAccess(instance: string, bundle: AccessBundle): Promise<void>;
  putLogs(cluster: ClusterFacts, why: string, text: string): void;
  /** What there is on a hub, whoever has made it. */
  putHubClusters(hub: string, clusters: readonly HubCluster[]): Promise<void>;
  /** All templates that cannot be used now. */
  putUnusable(templates: readonly UnusableTemplate[]): void;
  /** The credentials that a space has stored, by the reference that the cluster has. */
  openCredentials(reference: string): Promise<Readonly<Record<string, string>>>;
  /** Credentials that spaces want to store. */
  readonly checks: {
    take(signal: AbortSignal): Promise<CredentialCheck | undefined>;
    answer(id: string, result: CheckResult): void;
  };
  /** The credentials of this name of all spaces. */
  credentialsNamed(name: string): Promise<readonly SpaceCredentials[]>;
}
