/** The vault of a server: where its files are, and its upkeep beside the broker. */
import type { Logger } from "pino";
import { ClusterLogs, clusterLogsPath } from "../evidence/cluster-logs.ts";
import type { Redactor } from "../vault/redactor.ts";
import { type SecretStores, storesIn } from "../vault/secret-stores.ts";
import { keyFilePath, SqliteVault, vaultPath } from "../vault/sqlite-vault.ts";
import { VaultUpkeep, type Watched } from "./vault-upkeep.ts";

export interface VaultOptions {
  readonly data: string;
  readonly memory: boolean;
  readonly vaultKey?: string;
}

export class ServerVault {
  /** For the edges. */
  readonly parts: { readonly vault: SecretStores; readonly clusterLogs: ClusterLogs };
  readonly #vault: SqliteVault;
  readonly #logger: Logger;
  #upkeep: VaultUpkeep | undefined;

  constructor({ data, memory, vaultKey }: VaultOptions, redactor: Redactor, logger: Logger) {
    this.#vault = memory
      ? SqliteVault.inMemory()
      : new SqliteVault(vaultPath(data), vaultKey ?? keyFilePath(data));
    this.parts = {
      vault: storesIn(this.#vault, redactor),
      clusterLogs: new ClusterLogs(memory ? ":memory:" : clusterLogsPath(data), redactor),
    };
    this.#logger = logger;
  }

  /** Erases what nobody needs any more, from now on. */
  follow(broker: Watched): void {
    this.#upkeep = new VaultUpkeep(this.parts.vault, broker, {
      failed: (err) => {
        this.#logger.error({ err }, "the vault cannot be cleaned up; the server tries again");
      },
    });
  }

  async close(): Promise<void> {
    await this.#upkeep?.close();
    this.parts.clusterLogs.close();
    await this.#vault
      .close()
      .catch((err: unknown) => this.#logger.error({ err }, "closing the vault failed"));
  }
}
