/** How clusters are made, as the file says it. Secrets stand here by reference only. */
import type { Parameters, PhaseLimits } from "../core/model/cluster.ts";
import type { JsonValue } from "../core/model/placeholders.ts";

/** Where the provisioner finds a secret. */
export type CredentialSource =
  | { readonly from: "file"; readonly path: string }
  | { readonly from: "env"; readonly variable: string }
  | SecretSource;

/** A value in a Secret of Kubernetes. */
export interface SecretSource {
  readonly from: "secret";
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  readonly kubeconfig?: string;
}

/** One property of a JSON Schema. */
export type ParameterSchema = Readonly<Record<string, unknown>>;

/** What a variable of a driver program has: this text, or a variable of the provisioner. */
export type EnvSource = string | { readonly env: string };

export interface CommandTemplate {
  readonly driver: "command";
  /** A program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  /** Where it runs: the folder of the file. */
  readonly folder: string;
  readonly env: Readonly<Record<string, EnvSource>>;
  /** For one call. */
  readonly timeoutMs: number;
}

export interface NamespaceTemplate {
  readonly driver: "namespace";
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly quota: Readonly<Record<string, string>>;
  /** Absent: `defaultBroker`. Only what the file has is here, because it is a part of the revision. */
  readonly broker?: string;
  readonly expiryMs?: number;
}

/** An API server on which something else makes clusters. */
interface HubTemplate {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** This installation of Berth, on everything that it makes on the hub. */
  readonly broker: string;
  /** How long after its creation a cluster may be destroyed without Berth. */
  readonly expiryMs?: number;
}

/** Objects that are made for each cluster, with places for its values. */
interface ManifestTemplate extends HubTemplate {
  /** Where the objects were read from. */
  readonly manifest: string;
  readonly objects: readonly ManifestObject[];
}

export type ManifestObject = { readonly [key: string]: JsonValue };

/** Clusters of Hive's ClusterPools. */
export interface HiveClaimTemplate extends HubTemplate {
  readonly driver: "hive";
  readonly namespace: string;
  /** Labels of the pools. */
  readonly pools: Readonly<Record<string, string>>;
}

/** Single ClusterDeployments, each in a namespace of its own. */
export interface HiveDeploymentTemplate extends ManifestTemplate {
  readonly driver: "hive";
}

export interface HyperShiftTemplate extends ManifestTemplate {
  readonly driver: "hypershift";
  readonly namespace: string;
}

export interface ClusterApiTemplate extends ManifestTemplate {
  readonly driver: "cluster-api";
  readonly namespace: string;
}

export interface CaasTemplate extends HubTemplate {
  readonly driver: "caas";
  readonly namespace: string;
  readonly clusterTemplate: string;
  /** Where the operator keeps its Argo CD Applications. */
  readonly argoNamespace: string;
}

export type DriverTemplate =
  | CommandTemplate
  | NamespaceTemplate
  | HiveClaimTemplate
  | HiveDeploymentTemplate
  | HyperShiftTemplate
  | ClusterApiTemplate
  | CaasTemplate;

/** A program that looks for what is left of a destroyed cluster. */
export interface VerifyCommand {
  readonly command: readonly string[];
  readonly folder: string;
}

/** What happens to a cluster that nobody knows of, once it is old enough. */
export type OrphanPolicy = "report" | "destroy";

export interface TemplateSpec {
  readonly name: string;
  /** Changes with the template and with the content of every file and Secret that it refers to. */
  readonly revision: string;
  readonly how: DriverTemplate;
  /** The names of the hubs that its clusters may be made on. Absent: `how` says where. */
  readonly hubs?: readonly string[];
  /** What a request may set. */
  readonly parameters: Readonly<Record<string, ParameterSchema>>;
  /** What no request may set. Never shown: it may be as good as a secret. */
  readonly pinned: Parameters;
  readonly credentials: Readonly<Record<string, CredentialSource>>;
  /** The name of the credentials that the space of a request must have stored; null: none. */
  readonly ownCredentials: string | null;
  readonly cost: number;
  readonly limits: PhaseLimits;
  readonly hibernates: boolean;
  /** Whether the driver can try out credentials of a space before they are stored. */
  readonly validates: boolean;
  readonly orphans: OrphanPolicy;
  /** Absent: a cluster is gone when its driver says so. */
  readonly verify?: VerifyCommand;
}
