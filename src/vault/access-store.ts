/** What a holder needs to use its cluster, kept sealed until the cluster is destroyed. */
import type { Redactor } from "./redactor.ts";
import type { Vault } from "./vault.ts";

/** As a driver's `credentials` returns it. */
export interface AccessBundle {
  readonly kubeconfig: string;
  readonly username?: string;
  readonly password?: string;
  /** When the credentials inside stop to work; absent: when the cluster is destroyed. RFC 3339. */
  readonly expiresAt?: string;
}

/** One bundle per cluster instance. The name of an instance is never used twice. */
export class AccessStore {
  readonly #vault: Vault;
  readonly #redactor: Redactor;

  constructor(vault: Vault, redactor: Redactor) {
    this.#vault = vault;
    this.#redactor = redactor;
  }

  async put(instance: string, bundle: AccessBundle): Promise<void> {
    this.#register(bundle);
    await this.#vault.put({ kind: "access", owner: instance }, JSON.stringify(bundle));
  }

  /** Undefined if there is none. Throws `VaultUnusable`. */
  async open(instance: string): Promise<AccessBundle | undefined> {
    const text = await this.#vault.open({ kind: "access", owner: instance });
    if (text === undefined) return undefined;
    const bundle = JSON.parse(text) as AccessBundle;
    this.#register(bundle);
    return bundle;
  }

  /**
   * Removes the bundles of all clusters that are not in use. Returns how many there were. They are
   * listed before it asks: a bundle that comes later belongs to a cluster that may be newer.
   */
  async keepOnly(inUse: () => Promise<ReadonlySet<string>>): Promise<number> {
    const entries = await this.#vault.list("access");
    if (entries.length === 0) return 0; // Most servers make no clusters.
    const instances = await inUse();
    const gone = entries.filter(({ owner }) => !instances.has(owner));
    for (const entry of gone) await this.#vault.wipe(entry);
    return gone.length;
  }

  /** Before its first use: nothing that is logged from here on shows a value of the bundle. */
  #register({ kubeconfig, password }: AccessBundle): void {
    this.#redactor.registerDocument(kubeconfig);
    if (password !== undefined) this.#redactor.register(password);
  }
}
