/** How clusters are made, as the file says it. Secrets stand here by reference only. */
import type { Parameters, PhaseLimits } from "../core/model/cluster.ts";

/** Where the provisioner finds a secret. */
export type CredentialSource =
  | { readonly from: "file"; readonly path: string }
  | { readonly from: "env"; readonly variable: string }
  | {
      readonly from: "secret";
      readonly namespace: string;
      readonly name: string;
      readonly key: string;
      readonly kubeconfig?: string;
    };

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
}

export type DriverTemplate = CommandTemplate | NamespaceTemplate;

/** What happens to a cluster that nobody knows of, once it is old enough. */
export type OrphanPolicy = "report" | "destroy";

export interface TemplateSpec {
  readonly name: string;
  /** Changes with the template and with the content of every file that it refers to. */
  readonly revision: string;
  readonly how: DriverTemplate;
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
}
