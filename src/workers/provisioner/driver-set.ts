/** Opens the driver of a cluster, with the template that the cluster was made from. */
import { defaultBroker } from "../../config/schema-templates.ts";
import type { CommandTemplate, TemplateSpec, VerifyCommand } from "../../config/template-spec.ts";
import { credentialsParameter } from "../../core/model/cluster.ts";
import { CommandDriver } from "../../drivers/command/command-driver.ts";
import { remainingOf } from "../../drivers/command/verify.ts";
import type { CallOptions, ClusterRef, Driver } from "../../drivers/driver.ts";
import { HubApi } from "../../drivers/hub/hub-api.ts";
import { NamespaceDriver } from "../../drivers/namespace/namespace-driver.ts";
import { maskObservation, type SecretMask } from "../../drivers/secret-mask.ts";
import { ApiServer } from "../../kubernetes/api-server.ts";
import type { Place } from "../../kubernetes/kube-config.ts";
import type { ClusterFacts } from "./cluster-work.ts";
import { MissingDependency, resolveCredentials } from "./credentials.ts";
import { openHubDriver } from "./hub-driver.ts";
import type { HubPlaces } from "./hub-places.ts";
import type { TemplateArchive } from "./template-archive.ts";

export interface OpenDriver {
  readonly driver: Omit<Driver, "observe">;
  /** As the driver's own, with the secrets masked that the driver knows. */
  readonly observe: Driver["observe"];
  readonly spec: TemplateSpec;
  /** What the driver gets: those of the cluster, and those that the template has pinned. */
  readonly parameters: ClusterFacts["parameters"];
  /** What is left of a destroyed cluster, if the template has a program that looks for it. */
  readonly remaining?: (ref: ClusterRef, options: CallOptions) => Promise<readonly string[]>;
}

interface OpenOptions {
  readonly own?: Readonly<Record<string, string>> | undefined;
  readonly hub?: string | undefined;
}

type OwnCredentials = () => Promise<Readonly<Record<string, string>>>;

export class DriverSet {
  readonly #archive: TemplateArchive;
  readonly #places: HubPlaces;
  readonly #mask: SecretMask;
  /** They keep a connection. */
  readonly #namespaces = new Map<string, NamespaceDriver>();
  readonly #hubs = new Map<string, HubApi>();

  constructor(archive: TemplateArchive, places: HubPlaces, mask: SecretMask) {
    this.#archive = archive;
    this.#places = places;
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
    const found = needsOwn ? await own() : {};
    const driver = await this.openTemplate(spec, { own: found, hub: cluster.hub ?? undefined });
    const { verify } = spec;
    return {
      ...{ driver, spec, parameters: { ...parameters, ...spec.pinned } },
      observe: async (ref, options) =>
        maskObservation(await driver.observe(ref, options), this.#mask),
      ...(verify !== undefined && { remaining: await this.#verifier(spec, verify, found) }),
    };
  }

  async #verifier(
    { name, credentials }: TemplateSpec,
    verify: VerifyCommand,
    own: Readonly<Record<string, string>>,
  ) {
    const shared = await resolveCredentials(name, credentials, this.#mask);
    const settings = { ...verify, credentials: { ...shared, ...own } };
    return (ref: ClusterRef, options: CallOptions) =>
      remainingOf(settings, ref, this.#mask, options);
  }

  /** For calls that are about no single cluster. */
  async openTemplate(spec: TemplateSpec, { own = {}, hub }: OpenOptions = {}): Promise<Driver> {
    const { name } = spec;
    const how = this.#on(hub, spec.how);
    const shared = await resolveCredentials(name, spec.credentials, this.#mask);
    if (how.driver === "namespace") return this.#namespaceDriver(spec, how, hub);
    for (const value of Object.values(own)) this.#mask.registerDocument(value);
    const { hibernates, validates } = spec;
    const credentials = { ...shared, ...own };
    if (how.driver !== "command") {
      return openHubDriver(this.hub(how), how, { hibernates, credentials, mask: this.#mask });
    }
    const { command, folder, timeoutMs } = how;
    const settings = { command, folder, timeoutMs, hibernates, validates, credentials };
    return new CommandDriver({ ...settings, env: environmentOf(name, how) }, this.#mask);
  }

  /** A cluster keeps its hub, whatever the configuration says now. */
  #on<How extends TemplateSpec["how"]>(hub: string | undefined, how: How): How {
    if (hub === undefined || how.driver === "command") return how;
    const place = this.#places.find(hub);
    if (place === undefined) {
      const hint = "Put it back into the configuration until its clusters are gone";
      throw new MissingDependency(`There is no hub ${hub}. ${hint}`);
    }
    const { kubeconfig: _, context: __, ...rest } = how as How & Place;
    const { kubeconfig, context } = place;
    return {
      ...(rest as unknown as How),
      ...(kubeconfig === undefined ? undefined : { kubeconfig }),
      ...(context === undefined ? undefined : { context }),
    };
  }

  /** One connection for all templates of a hub. */
  hub({ kubeconfig, context }: Place): HubApi {
    const key = JSON.stringify([kubeconfig, context]);
    const known = this.#hubs.get(key);
    if (known !== undefined) return known;
    const hub = new HubApi(() => ApiServer.connect({ kubeconfig, context }), this.#mask);
    this.#hubs.set(key, hub);
    return hub;
  }

  #namespaceDriver(
    { revision }: TemplateSpec,
    how: Extract<TemplateSpec["how"], { readonly driver: "namespace" }>,
    hub = "",
  ): NamespaceDriver {
    const key = `${revision} ${hub}`;
    const known = this.#namespaces.get(key);
    if (known !== undefined) return known;
    const { kubeconfig, context, quota, broker = defaultBroker, expiryMs } = how;
    const connect = () => ApiServer.connect({ kubeconfig, context });
    const owner = { broker, expiryMs };
    const driver = new NamespaceDriver({ connect, quota, owner }, this.#mask);
    this.#namespaces.set(key, driver);
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
