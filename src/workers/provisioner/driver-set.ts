/** Opens the driver of a cluster, with the template that the cluster was made from. */
import type { CommandTemplate, TemplateSpec } from "../../config/template-spec.ts";
import { credentialsParameter } from "../../core/model/cluster.ts";
import { CommandDriver } from "../../drivers/command/command-driver.ts";
import type { Driver } from "../../drivers/driver.ts";
import { NamespaceDriver } from "../../drivers/namespace/namespace-driver.ts";
import type { SecretMask } from "../../drivers/secret-mask.ts";
import { ApiServer } from "../../kubernetes/api-server.ts";
import type { ClusterFacts } from "./cluster-work.ts";
import { MissingDependency, resolveCredentials } from "./credentials.ts";
import type { TemplateArchive } from "./template-archive.ts";

export interface OpenDriver {
  readonly driver: Driver;
  readonly spec: TemplateSpec;
  /** What the driver gets: those of the cluster, and those that the template has pinned. */
  readonly parameters: ClusterFacts["parameters"];
}

type OwnCredentials = () => Promise<Readonly<Record<string, string>>>;

export class DriverSet {
  readonly #archive: TemplateArchive;
  readonly #mask: SecretMask;
  /** They keep a connection. */
  readonly #namespaces = new Map<string, NamespaceDriver>();

  constructor(archive: TemplateArchive, mask: SecretMask) {
    this.#archive = archive;
    this.#mask = mask;
  }

  /** Rejects with `MissingDependency` before any call outside is made. */
  async open(cluster: ClusterFacts, own: OwnCredentials): Promise<OpenDriver> {
    const { template, revision } = cluster;
    const spec = this.#archive.find(template, revision);
    if (spec === undefined) {
      const hint = "Put it back into the configuration until its clusters are gone";
      throw new MissingDependency(`There is no template ${template}. ${hint}`);
    }
    const { [credentialsParameter]: _, ...parameters } = cluster.parameters;
    const needsOwn = spec.ownCredentials !== null;
    const driver = await this.openTemplate(spec, needsOwn ? await own() : {});
    return { driver, spec, parameters: { ...parameters, ...spec.pinned } };
  }

  /** For calls that are about no single cluster. */
  async openTemplate(
    spec: TemplateSpec,
    own: Readonly<Record<string, string>> = {},
  ): Promise<Driver> {
    const { how, name } = spec;
    const shared = await resolveCredentials(name, spec.credentials, this.#mask);
    if (how.driver === "namespace") return this.#namespaceDriver(spec, how);
    for (const value of Object.values(own)) this.#mask.registerDocument(value);
    const { command, folder, timeoutMs } = how;
    const { hibernates, validates } = spec;
    const credentials = { ...shared, ...own };
    const settings = { command, folder, timeoutMs, hibernates, validates, credentials };
    return new CommandDriver({ ...settings, env: environmentOf(name, how) }, this.#mask);
  }

  #namespaceDriver(
    { revision }: TemplateSpec,
    how: Extract<TemplateSpec["how"], { readonly driver: "namespace" }>,
  ): NamespaceDriver {
    const known = this.#namespaces.get(revision);
    if (known !== undefined) return known;
    const { kubeconfig, context, quota } = how;
    const connect = () => ApiServer.connect({ kubeconfig, context });
    const driver = new NamespaceDriver({ connect, quota }, this.#mask);
    this.#namespaces.set(revision, driver);
    return driver;
  }
}

function environmentOf(template: string, { env }: CommandTemplate): Record<string, string> {
  const found = Object.entries(env).map(([name, from]) => {
    const value = typeof from === "string" ? from : process.env[from.env];
    if (value !== undefined) return [name, value] as const;
    const what = typeof from === "string" ? name : from.env;
    const state = `the variable ${what} of the provisioner is not set`;
    throw new MissingDependency(`Cannot use the template ${template}: ${state}`);
  });
  return Object.fromEntries(found);
}
