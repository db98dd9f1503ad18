/**
 * The logs of clusters that failed, collected before they are destroyed. Only the last failures of
 * each pool are kept. Texts are masked before they are stored: a text that cannot be masked is not
 * stored at all.
 */
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeDataFolder, makePrivateFile } from "../journal/data-folder.ts";
import { sqliteFailure } from "../journal/sqlite-failure.ts";
import type { Redactor } from "../vault/redactor.ts";
import { maskSecretForms } from "../vault/secret-patterns.ts";

export interface ClusterLog {
  readonly name: string;
  readonly pool: string;
  readonly instance: string;
  /** The space that held the cluster; null: nobody did. */
  readonly space: string | null;
  readonly atMs: number;
  readonly why: string;
  readonly text: string;
}

export const logLimits = {
  /** The end of a longer text is kept: that is where the failure is. */
  bytesMax: 256 * 1_024,
  perPoolMax: 20,
} as const;

const schema = `
  CREATE TABLE IF NOT EXISTS log (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    pool TEXT NOT NULL,
    instance TEXT NOT NULL,
    space TEXT,
    at_ms INTEGER NOT NULL,
    why TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS log_of_pool ON log (pool, number);
`;

export function clusterLogsPath(folder: string): string {
  return join(folder, "cluster-logs.db");
}

export class ClusterLogs {
  readonly #path: string;
  readonly #redactor: Pick<Redactor, "clean">;
  #database: DatabaseSync | undefined;

  /** Opened at the first use: most servers make no clusters. */
  constructor(path: string, redactor: Pick<Redactor, "clean">) {
    this.#path = path;
    this.#redactor = redactor;
  }

  static inMemory(redactor: Pick<Redactor, "clean">): ClusterLogs {
    return new ClusterLogs(":memory:", redactor);
  }

  put(log: ClusterLog): void {
    const text = this.#masked(lastPart(log.text));
    const why = this.#masked(log.why);
    this.#attempt("write", (database) => {
      const { name, pool, instance, space, atMs } = log;
      database
        .prepare(
          "INSERT INTO log (name, pool, instance, space, at_ms, why, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .run(name, pool, instance, space, atMs, why, text);
      database
        .prepare(
          `DELETE FROM log WHERE pool = ?1 AND number <= (
             SELECT number FROM log WHERE pool = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${logLimits.perPoolMax})`,
        )
        .run(pool);
    });
  }

  /** The latest first. */
  of(name: string): readonly ClusterLog[] {
    return this.#attempt("read", (database) => {
      const rows = database
        .prepare("SELECT * FROM log WHERE name = ? ORDER BY number DESC")
        .all(name);
      return rows.map((row) => ({
        name: String(row["name"]),
        pool: String(row["pool"]),
        instance: String(row["instance"]),
        space: row["space"] === null ? null : String(row["space"]),
        atMs: Number(row["at_ms"]),
        why: String(row["why"]),
        text: String(row["text"]),
      }));
    });
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  #masked(text: string): string {
    try {
      return maskSecretForms(this.#redactor.clean(text));
    } catch {
      return "(not stored: its secrets could not be masked)";
    }
  }

  #attempt<Result>(verb: string, work: (database: DatabaseSync) => Result): Result {
    try {
      this.#database ??= this.#open();
      return work(this.#database);
    } catch (error) {
      throw sqliteFailure(error, `${verb} the logs of clusters in`, this.#path);
    }
  }

  #open(): DatabaseSync {
    if (this.#path !== ":memory:") {
      makeDataFolder(dirname(this.#path));
      makePrivateFile(dirname(this.#path), this.#path);
    }
    const database = new DatabaseSync(this.#path, { timeout: 1_000 });
    database.exec(schema);
    return database;
  }
}

function lastPart(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= logLimits.bytesMax) return text;
  const end = bytes.subarray(bytes.length - logLimits.bytesMax).toString("utf8");
  return `(the beginning is cut)\n${end}`;
}
