import type { DatabaseSync, StatementSync } from "node:sqlite";
import { sqliteFailure } from "../../journal/sqlite-failure.ts";
import { inTransaction } from "../../journal/sqlite-transaction.ts";

/**
 * A database that is made from the journal, with its statements. Commits are not synced: after a power cut the last ones are
 * missing as a whole, and are made again from the journal, which is synced.
 */
export class DerivedFile<Sql extends { readonly touch: string }> {
  readonly database: DatabaseSync;
  readonly run: Readonly<Record<keyof Sql, StatementSync>>;
  readonly #name: string;
  readonly #path: string;

  /** `sql.touch` writes something and changes nothing. `name`: what it has, as in "the history". */
  constructor(database: DatabaseSync, sql: Sql, name: string, path: string) {
    this.database = database;
    this.#name = name;
    this.#path = path;
    const prepared = Object.entries<string>(sql as Sql & Record<string, string>).map(
      ([key, text]) => [key, database.prepare(text)] as const,
    );
    this.run = Object.fromEntries(prepared) as Record<keyof Sql, StatementSync>;
  }

  /** Throws what a full or failing disk is called in Berth. */
  attempt<Result>(verb: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw sqliteFailure(error, `${verb} ${this.#name} in`, this.#path);
    }
  }

  transact<Result>(work: () => Result): Result {
    return this.attempt("write", () => inTransaction(this.database, work));
  }

  /** Afterwards everything that was saved survives a power cut. */
  sync(): void {
    this.attempt("sync", () => {
      // A synced commit also syncs everything before it in the log.
      this.database.exec("PRAGMA synchronous = FULL");
      try {
        this.run.touch.run();
      } finally {
        this.database.exec("PRAGMA synchronous = NORMAL");
      }
    });
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }
}
