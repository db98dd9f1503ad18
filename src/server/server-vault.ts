/** The vault of a server: where its secrets are, and its upkeep beside the broker. */
import type { Logger } from "pino";
import { ClusterLogs, clusterLogsPath } from "../evidence/cluster-logs.ts";
import type { SealedRows } from "../journal/sealed-rows.ts";
import type { Redactor } from "../vault/redactor.ts";
import { type SecretStores, storesIn } from "../vault/secret-stores.ts";
import { SharedVault } from "../vault/shared-vault.ts";
import { keyFilePath, SqliteVault, vaultPath } from "../vault/sqlite-vault.ts";
import type { Vault } from "../vault/vault.ts";
import { VaultUpkeep, type Watched } from "./vault-upkeep.ts";

export interface VaultOptions {
  readonly data: string;
  readonly memory: boolean;
  readonly vaultKey?: string;
}

/** A vault that several servers share. */
export interface SharedSecrets {
  readonly rows: SealedRows;
  readonly isLeading: () => boolean;
}

export class ServerVault {
  /** For the edges. */
  readonly parts: { readonly vault: SecretStores; readonly clusterLogs: ClusterLogs };
  readonly #vault: Vault;
  readonly #shared: SharedSecrets | undefined;
  readonly #logger: Logger;
  #upkeep: VaultUpkeep | undefined;

  constructor(
    { data, memory, vaultKey }: VaultOptions,
    redactor: Redactor,
    logger: Logger,
    shared?: SharedSecrets,
  ) {
    const keyFile = vaultKey ?? keyFilePath(data);
    this.#shared = shared;
    if (shared !== undefined) this.#vault = new SharedVault(shared.rows, keyFile);
    else if (memory) this.#vault = SqliteVault.inMemory();
    else this.#vault = new SqliteVault(vaultPath(data), keyFile);
    this.parts = {
      vault: storesIn(this.#vault, redactor),
      clusterLogs: new ClusterLogs(memory ? ":memory:" : clusterLogsPath(data), redactor),
    };
    this.#logger = logger;
    if (shared !== undefined) void this.#moveFrom(data, keyFile, shared.rows);
  }

  /** Of a server that was alone before its journal was copied to PostgreSQL. */
  async #moveFrom(data: string, keyFile: string, rows: SealedRows): Promise<void> {
    const own = new SqliteVault(vaultPath(data), keyFile);
    try {
      const secrets = await own.moveTo((row) => rows.add(row));
      if (secrets > 0) this.#logger.info({ secrets }, "moved the vault to PostgreSQL");
    } catch (err) {
      this.#logger.error({ err }, "the vault of the data folder cannot be moved to PostgreSQL");
    } finally {
      await own.close();
    }
  }

  /** Erases what nobody needs any more, from now on. */
  follow(broker: Watched): void {
    this.#upkeep = new VaultUpkeep(this.parts.vault, broker, {
      isMine: this.#shared?.isLeading ?? (() => true),
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
