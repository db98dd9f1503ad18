/**
 * How the provisioner reaches the hubs, also those that the configuration has dropped while they have
 * clusters. It has paths of kubeconfigs, never what is in them.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HubPlace } from "../../config/read-hubs.ts";

export class HubPlaces {
  readonly #path: string | undefined;
  #current: readonly HubPlace[] = [];
  readonly #known = new Map<string, HubPlace>();

  /** Without a folder nothing outlives the process. */
  constructor(folder?: string) {
    this.#path = folder === undefined ? undefined : join(folder, "hubs.json");
    for (const place of this.#read()) this.#known.set(place.name, place);
  }

  /** The hubs of the configuration in force. */
  get current(): readonly HubPlace[] {
    return this.#current;
  }

  /** Those that the configuration has dropped come last. */
  get all(): readonly HubPlace[] {
    const names = new Set(this.#current.map(({ name }) => name));
    return [...this.#current, ...[...this.#known.values()].filter(({ name }) => !names.has(name))];
  }

  /** Durable before a cluster is made there. */
  configure(hubs: readonly HubPlace[]): void {
    this.#current = hubs;
    if (hubs.length === 0 && this.#known.size === 0) return;
    for (const hub of hubs) this.#known.set(hub.name, hub);
    this.#write();
  }

  find(name: string): HubPlace | undefined {
    return this.#known.get(name);
  }

  /** Forgets hubs that no cluster is on any longer. */
  keepUsed(clusters: readonly { readonly hub: string | null }[]): void {
    const used = new Set(clusters.map(({ hub }) => hub));
    for (const { name } of this.#current) used.add(name);
    const gone = [...this.#known.keys()].filter((name) => !used.has(name));
    for (const name of gone) this.#known.delete(name);
    if (gone.length > 0) this.#write();
  }

  #read(): readonly HubPlace[] {
    if (this.#path === undefined) return [];
    try {
      return JSON.parse(readFileSync(this.#path, "utf8")) as HubPlace[];
    } catch {
      return []; // There is none yet.
    }
  }

  #write(): void {
    if (this.#path === undefined) return;
    const draft = `${this.#path}.new`;
    writeFileSync(draft, JSON.stringify([...this.#known.values()]), { mode: 0o600, flush: true });
    renameSync(draft, this.#path);
  }
}
