/** Which kinds a hub serves, and what their paths are. Asked once, because that hardly changes. */
import { Retry } from "../driver.ts";
import type { HubApi } from "./hub-api.ts";
import type { Kind } from "./kind.ts";

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string }[];
}

interface GroupReply {
  readonly preferredVersion?: { readonly version: string };
}

export class Discovery {
  readonly #hub: HubApi;
  readonly #known = new Map<string, Kind>();

  constructor(hub: HubApi) {
    this.#hub = hub;
  }

  async kindOf(apiVersion: string, kind: string, signal?: AbortSignal): Promise<Kind> {
    const key = `${apiVersion} ${kind}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    const from = "what brings it";
    const path = group === "" ? ["api", version] : ["apis", group, version];
    const sought: Kind = { group, version, kind, plural: "", from };
    const { resources } = await this.#hub.call<ResourceList>({ path, signal }, sought);
    // A subresource has the same kind, and a slash in its name.
    const found = resources.find((each) => each.kind === kind && !each.name.includes("/"));
    if (found === undefined) {
      throw new Retry(`Cannot use the hub: it does not know the kind ${kind} of ${apiVersion}`);
    }
    const served = { ...sought, plural: found.name };
    this.#known.set(key, served);
    return served;
  }

  /** The version of a group that its hub prefers. */
  async versionOf(group: string, from: string, signal?: AbortSignal): Promise<string> {
    const path = ["apis", group];
    const kind: Kind = { group, version: "any", kind: "any", plural: "", from };
    const { preferredVersion } = await this.#hub.call<GroupReply>({ path, signal }, kind);
    if (preferredVersion === undefined) throw new Retry(`The hub serves no version of ${group}`);
    return preferredVersion.version;
  }
}
