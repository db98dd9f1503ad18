import type { DatabaseSync } from "node:sqlite";
import { DerivedFile } from "../follow/derived-file.ts";
import { auditInMemory, openAuditFile } from "./audit-file.ts";
import { type Anchor, bodyOf, hashOf, noHash } from "./chain.ts";
import type { AuditChanges, NewEntry, OpenLease, Standing } from "./fold.ts";

const forgetChunk = 512;

const sql = {
  place: "SELECT journal, seq FROM audit_place",
  move: "UPDATE audit_place SET seq = ?",
  nameJournal: "UPDATE audit_place SET journal = ?",
  touch: "UPDATE audit_place SET seq = seq",
  last: "SELECT number, hash, at FROM audit ORDER BY number DESC LIMIT 1",
  insert: "INSERT INTO audit VALUES (?, ?, ?, ?, ?)",
  putOpen: `
    INSERT INTO audit_open VALUES (?, ?)
    ON CONFLICT (id) DO UPDATE SET lease = excluded.lease`,
  dropOpen: "DELETE FROM audit_open WHERE id = ?",
  putMember: `
    INSERT INTO audit_member VALUES (?, ?)
    ON CONFLICT (resource) DO UPDATE SET pool = excluded.pool`,
  dropMember: "DELETE FROM audit_member WHERE resource = ?",
  /** Only the oldest in a row count, and the last entry stays. */
  lastBefore: `
    SELECT number, hash FROM audit WHERE number < coalesce(
      (SELECT number FROM audit WHERE at >= ? ORDER BY number LIMIT 1),
      (SELECT max(number) FROM audit))
    ORDER BY number DESC LIMIT 1`,
  forget: `
    DELETE FROM audit WHERE number <= ?
    AND number IN (SELECT number FROM audit ORDER BY number LIMIT ${forgetChunk})`,
} as const;

/**
 * Stores the audit in a file next to the journal. Entries, what is open, and the number of the last
 * event are written in one transaction, so a crash neither loses nor repeats an entry.
 */
export class AuditStore {
  readonly #file: DerivedFile<typeof sql>;
  readonly #run: DerivedFile<typeof sql>["run"];
  readonly #stored = new Set<string>();
  #seq = 0;
  #last: Anchor;
  #lastAt: number;
  #synced: Anchor;
  #syncedSeq = -1;

  private constructor(path: string, database: DatabaseSync) {
    this.#file = new DerivedFile(database, sql, "the audit", path);
    this.#run = this.#file.run;
    const last = this.#run.last.get();
    this.#last = { number: Number(last?.["number"] ?? 0), hash: String(last?.["hash"] ?? noHash) };
    this.#lastAt = Number(last?.["at"] ?? 0);
    this.#synced = this.#last;
  }

  static open(path: string): AuditStore {
    return new AuditStore(path, openAuditFile(path));
  }

  static inMemory(): AuditStore {
    return new AuditStore(":memory:", auditInMemory());
  }

  get database(): DatabaseSync {
    return this.#file.database;
  }

  /** The number of the last processed event. */
  get seq(): number {
    return this.#seq;
  }

  /** The last entry; its number is 0 if there is none. */
  get last(): Anchor {
    return this.#last;
  }

  /** The last entry that survives a power cut. */
  get synced(): Anchor {
    return this.#synced;
  }

  load(): Standing & { readonly journal: string } {
    return this.#file.attempt("read", () => {
      const place = this.#run.place.get();
      this.#seq = Number(place?.["seq"]);
      const open = new Map<string, OpenLease>();
      for (const { id, lease } of this.database.prepare("SELECT * FROM audit_open").iterate()) {
        open.set(String(id), JSON.parse(String(lease)) as OpenLease);
      }
      this.#stored.clear();
      for (const id of open.keys()) this.#stored.add(id);
      const members = new Map<string, string>();
      const rows = this.database.prepare("SELECT * FROM audit_member");
      for (const { resource, pool } of rows.iterate()) members.set(String(resource), String(pool));
      return { open, members, journal: String(place?.["journal"]) };
    });
  }

  /**
   * Writes everything, or nothing and throws. `seq` is the last event behind the changes; `journal`:
   * from now on the events come from this one.
   */
  save(
    seq: number,
    changes: AuditChanges,
    open: ReadonlyMap<string, OpenLease>,
    journal?: string,
  ): void {
    const { last, lastAt } = this.#file.transact(() => {
      if (journal !== undefined) this.#run.nameJournal.run(journal);
      this.#saveOpen(changes, open);
      for (const [resource, pool] of changes.members) {
        if (pool === null) this.#run.dropMember.run(resource);
        else this.#run.putMember.run(resource, pool);
      }
      this.#run.move.run(seq);
      return this.#append(changes.entries);
    });
    for (const id of changes.touched) {
      if (open.has(id)) this.#stored.add(id);
      else this.#stored.delete(id);
    }
    this.#seq = seq;
    this.#last = last;
    this.#lastAt = lastAt;
  }

  /** Afterwards everything that was saved survives a power cut. */
  sync(): void {
    if (this.#syncedSeq === this.#seq && this.#synced.number === this.#last.number) return;
    this.#file.sync();
    this.#synced = this.#last;
    this.#syncedSeq = this.#seq;
  }

  /** The last of the oldest entries that were written before then. */
  lastBefore(before: number): Anchor | undefined {
    return this.#file.attempt("read", () => {
      const row = this.#run.lastBefore.get(before);
      return row && { number: Number(row["number"]), hash: String(row["hash"]) };
    });
  }

  /** Deletes some entries up to this number. Returns whether there may be more. */
  forget(through: number): boolean {
    return this.#file.attempt("prune", () => {
      return Number(this.#run.forget.run(through).changes) === forgetChunk;
    });
  }

  close(): void {
    this.#file.close();
  }

  #saveOpen({ touched }: AuditChanges, open: ReadonlyMap<string, OpenLease>): void {
    for (const id of touched) {
      const lease = open.get(id);
      if (lease !== undefined) this.#run.putOpen.run(id, JSON.stringify(lease));
      else if (this.#stored.has(id)) this.#run.dropOpen.run(id);
    }
  }

  /**
   * The time of an entry is never before that of the one before: a refused call has the time at which it
   * came, and an event that follows it in the chain may have been decided a little earlier.
   */
  #append(entries: readonly NewEntry[]): { readonly last: Anchor; readonly lastAt: number } {
    let { number, hash: previous } = this.#last;
    let lastAt = this.#lastAt;
    for (const { at: wantedAt, facts } of entries) {
      number += 1;
      const at = Math.max(lastAt, wantedAt);
      lastAt = at;
      const body = bodyOf({ number, at: new Date(at).toISOString(), ...facts });
      const hash = hashOf(previous, body);
      this.#run.insert.run(number, at, body, previous, hash);
      previous = hash;
    }
    return { last: { number, hash: previous }, lastAt };
  }
}
