import type { Vault } from "./vault.ts";

/**
 * Hashes of Secrets of Kubernetes, by the name of the Secret. A password that is easy to guess can be
 * found from its hash, so the hashes are sealed too.
 */
export class SecretHashStore {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /** Undefined if there is none. Throws `VaultUnusable`. */
  load(name: string): Promise<string | undefined> {
    return this.#vault.open({ kind: "secret-hash", owner: name });
  }

  save(name: string, text: string): Promise<void> {
    return this.#vault.put({ kind: "secret-hash", owner: name }, text);
  }
}
