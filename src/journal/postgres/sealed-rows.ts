import { JournalConflict } from "../journal.ts";
import type { SealedName, SealedRow, SealedRows } from "../sealed-rows.ts";
import type { Database, Row } from "./database.ts";
import type { Statements } from "./statements.ts";

/** The table `vault`. Only the leader changes it, so that a replica that was paused does not. */
export class PostgresSealedRows implements SealedRows {
  readonly #database: Database;
  readonly #sql: Statements;
  /** Null: this replica does not lead. */
  readonly #epoch: () => number | null;

  constructor(database: Database, sql: Statements, epoch: () => number | null) {
    this.#database = database;
    this.#sql = sql;
    this.#epoch = epoch;
  }

  get name(): string {
    return this.#database.name;
  }

  async get({ kind, owner }: SealedName): Promise<Uint8Array | undefined> {
    const [row] = await this.#run("read", this.#sql.sealed, [kind, owner]);
    return row?.["sealed"] as Uint8Array | undefined;
  }

  async list(kind: string): Promise<readonly Omit<SealedRow, "sealed">[]> {
    const rows = await this.#run("read", this.#sql.listSealed, [kind]);
    return rows.map((row) => ({
      kind,
      owner: String(row["owner"]),
      sealedAtMs: Number(row["sealed_at"]),
    }));
  }

  async all(): Promise<readonly SealedRow[]> {
    const rows = await this.#run("read", this.#sql.allSealed, []);
    return rows.map((row) => ({
      kind: String(row["kind"]),
      owner: String(row["owner"]),
      sealedAtMs: Number(row["sealed_at"]),
      sealed: row["sealed"] as Uint8Array,
    }));
  }

  async put({ kind, owner, sealedAtMs, sealed }: SealedRow): Promise<void> {
    const values = [kind, owner, sealedAtMs, sealed, this.#epoch()];
    this.#mustLead(await this.#run("write", this.#sql.putSealed, values));
  }

  async remove({ kind, owner }: SealedName): Promise<void> {
    this.#mustLead(await this.#run("write", this.#sql.removeSealed, [kind, owner, this.#epoch()]));
  }

  async add({ kind, owner, sealedAtMs, sealed }: SealedRow): Promise<void> {
    await this.#run("write", this.#sql.addSealed, [kind, owner, sealedAtMs, sealed]);
  }

  async reseal({ kind, owner, sealedAtMs, sealed }: SealedRow, old: Uint8Array): Promise<boolean> {
    const values = [kind, owner, sealedAtMs, sealed, old];
    return (await this.#run("write", this.#sql.resealed, values)).length > 0;
  }

  #run(verb: string, sql: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#database.run({ verb: `${verb} the vault in`, sql, values });
  }

  #mustLead(rows: readonly Row[]): void {
    if (rows.length > 0) return;
    throw new JournalConflict("Cannot write the vault: another replica leads");
  }
}
