/** The parts of a copy that speak to PostgreSQL: everything that a server never does. */
import {
  type CheckedCommit,
  commitChecksum,
  secretChecksum,
  snapshotChecksum,
} from "../checksum.ts";
import { formatKey } from "../format.ts";
import { JournalUnusable, type Recorded, type Snapshot, storedCommit } from "../journal.ts";
import type { SealedRow } from "../sealed-rows.ts";
import { parsePostgresAddress } from "./address.ts";
import { Connections } from "./connections.ts";
import { formatVersion } from "./migrations.ts";
import { commitFrom, snapshotFrom } from "./rows.ts";
import { prepareSchema } from "./schema.ts";

/** How many commits are read at once. */
const pageCommits = 200;

/** In the table `meta` while a copy is not finished, so that no server uses it. */
const copyingKey = "copying";

/** What a copy has beside the events. */
export interface CopiedRest {
  readonly snapshot: Snapshot | undefined;
  readonly format: number;
  readonly sealed: readonly SealedRow[];
}

export class PostgresCopy {
  readonly name: string;
  readonly #connections: Connections;
  readonly #schema: string;

  private constructor(connections: Connections, schema: string) {
    this.name = connections.name;
    this.#connections = connections;
    this.#schema = schema;
  }

  static async open(address: string): Promise<PostgresCopy> {
    const parsed = parsePostgresAddress(address);
    const connections = await Connections.open(parsed);
    try {
      await prepareSchema(connections, parsed.schema, undefined, { unfinished: true });
      return new PostgresCopy(connections, parsed.schema);
    } catch (error) {
      await connections.close();
      throw error;
    }
  }

  /** Undefined if the journal is empty and nobody has begun a copy. Throws if a server leads on it. */
  async found(): Promise<{ secret: string; head: number } | undefined> {
    const [row] = await this.#connections.run({
      verb: "copy to",
      sql: `SELECT head.seq, secret.value AS secret, copying.value AS copying,
          CASE WHEN expires_at > clock_timestamp() THEN coalesce(address, leader) END AS used_by
        FROM "${this.#schema}".head
        JOIN "${this.#schema}".meta AS secret ON secret.key = 'secret'
        LEFT JOIN "${this.#schema}".meta AS copying ON copying.key = '${copyingKey}'`,
    });
    const usedBy = row?.["used_by"] ?? null;
    if (usedBy !== null) {
      throw new JournalUnusable(
        `Cannot write to the journal ${this.name}: the server ${String(usedBy)} uses it`,
        "Stop all servers on it, or name another schema with ?schema=NAME",
      );
    }
    const head = Number(row?.["seq"] ?? 0);
    if (head === 0 && row?.["copying"] === null) return undefined;
    const first = await this.range();
    return { secret: String(row?.["secret"]), head: first.hasCommits ? head : 0 };
  }

  async range(): Promise<{ first: number; hasCommits: boolean }> {
    const sql = `SELECT min(seq) AS first FROM "${this.#schema}".journal`;
    const [row] = await this.#connections.run({ verb: "copy", sql });
    const first = row?.["first"] ?? null;
    return { first: Number(first ?? 1), hasCommits: first !== null };
  }

  /** Every commit as it is stored, in pages. Nothing is checked. */
  async *rows(): AsyncIterable<CheckedCommit> {
    const sql = `SELECT seq, at, count, events, previous, checksum FROM "${this.#schema}".journal
      WHERE seq > $1::bigint ORDER BY seq LIMIT ${pageCommits}`;
    for (let after = -1; ; ) {
      const rows = await this.#connections.run({ verb: "check", sql, values: [after] });
      for (const row of rows) yield commitFrom(row);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = Number(last["seq"]);
    }
  }

  /** Throws `JournalUnusable` if it is damaged. */
  async snapshot(): Promise<Snapshot | undefined> {
    const sql = `SELECT seq, at, state, checksum FROM "${this.#schema}".snapshot`;
    const [row] = await this.#connections.run({ verb: "check", sql });
    return snapshotFrom(row);
  }

  /** The end that the head names. */
  async end(): Promise<{ head: number; checksum: number }> {
    const sql = `SELECT seq, checksum FROM "${this.#schema}".head`;
    const [row] = await this.#connections.run({ verb: "check", sql });
    return { head: Number(row?.["seq"] ?? 0), checksum: Number(row?.["checksum"] ?? 0) };
  }

  /** The head stands before the first event. A claim of the lead is not possible meanwhile. */
  async begin(secret: string, firstSeq: number): Promise<void> {
    await this.#connections.transaction("copy to", async (run) => {
      await run(`SET LOCAL search_path TO "${this.#schema}"`);
      const put = (key: string, value: string) =>
        run("INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2", [
          key,
          value,
        ]);
      await put(copyingKey, "yes");
      await put("secret", secret);
      await put("secret_checksum", String(secretChecksum(secret)));
      await run("UPDATE head SET seq = $1", [firstSeq - 1]);
    });
  }

  async append(commits: readonly Recorded[]): Promise<void> {
    await this.#connections.transaction("copy to", async (run) => {
      await run(`SET LOCAL search_path TO "${this.#schema}"`);
      const [head] = await run("SELECT seq, checksum FROM head FOR UPDATE", []);
      let previous = Number(head?.["checksum"] ?? 0);
      let [last, bytes] = [0, 0];
      for (const { seq, at, events } of commits) {
        const commit = storedCommit(seq - 1, at, events);
        const checksum = commitChecksum(previous, commit);
        const values = [seq, at, commit.count, commit.events, previous, checksum];
        await run("INSERT INTO journal VALUES ($1, $2, $3, $4, $5, $6, 0)", values);
        previous = checksum;
        last = seq + commit.count - 1;
        bytes += Buffer.byteLength(commit.events);
      }
      const moved = [last, previous, bytes];
      await run("UPDATE head SET seq = $1, checksum = $2, bytes = bytes + $3", moved);
    });
  }

  /** The mark never falls, and a secret that is there is replaced. */
  async finish({ snapshot, format, sealed }: CopiedRest): Promise<void> {
    await this.#connections.transaction("copy to", async (run) => {
      await run(`SET LOCAL search_path TO "${this.#schema}"`);
      if (snapshot !== undefined) {
        const { seq, at, state } = snapshot;
        await run("DELETE FROM snapshot", []);
        const values = [seq, at, state, snapshotChecksum(snapshot)];
        await run(
          "INSERT INTO snapshot (seq, at, state, checksum) VALUES ($1, $2, $3, $4)",
          values,
        );
      }
      await run("UPDATE meta SET value = $2 WHERE key = $1 AND value::integer < $2::integer", [
        formatKey,
        String(format),
      ]);
      // As when a server raises the mark: one from before there were marks must not open it.
      if (format > 1) {
        await run(`UPDATE meta SET value = '${formatVersion}'
          WHERE key = 'oldest_reader' AND value::integer < ${formatVersion}`);
      }
      for (const { kind, owner, sealedAtMs, sealed: bytes } of sealed) {
        await run(
          `INSERT INTO vault (kind, owner, sealed_at, sealed) VALUES ($1, $2, $3, $4)
          ON CONFLICT (kind, owner) DO UPDATE SET sealed_at = $3, sealed = $4`,
          [kind, owner, sealedAtMs, bytes],
        );
      }
      await run("DELETE FROM meta WHERE key = $1", [copyingKey]);
    });
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }
}
