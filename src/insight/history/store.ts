import type { DatabaseSync } from "node:sqlite";
import { DerivedFile } from "../follow/derived-file.ts";
import { readCharged, readPrices } from "./costs.ts";
import type { HistoryEntry, OpenEntry, Outage } from "./entry.ts";
import type { Changes, Standing } from "./fold.ts";
import { historyInMemory, type OpenOptions, openHistoryFile } from "./history-file.ts";
import { readCapacities, readDirty } from "./reader.ts";

/** Each chunk is its own transaction, so that the commits of the broker run in between. */
const forgetChunk = 512;

const sql = {
  place: "SELECT journal, seq, last_number, has_capacities FROM history_place",
  move: "UPDATE history_place SET seq = ?, last_number = max(last_number, ?)",
  nameJournal: "UPDATE history_place SET journal = ?",
  haveCapacities: "UPDATE history_place SET has_capacities = 1",
  /** The capacity at that time is not known, but the resources were shared. */
  markShared: "UPDATE history_size SET capacity = '{}' WHERE pool = ? AND capacity IS NULL",
  touch: "UPDATE history_place SET seq = seq",
  insert: `INSERT INTO history VALUES (${Array(18).fill("?").join(", ")})`,
  putOpen: `
    INSERT INTO history_open VALUES (?, ?)
    ON CONFLICT (id) DO UPDATE SET entry = excluded.entry`,
  dropOpen: "DELETE FROM history_open WHERE id = ?",
  putMember: `
    INSERT INTO history_member VALUES (?, ?)
    ON CONFLICT (resource) DO UPDATE SET pool = excluded.pool`,
  dropMember: "DELETE FROM history_member WHERE resource = ?",
  putCapacity: `
    INSERT INTO history_capacity VALUES (?, ?)
    ON CONFLICT (resource) DO UPDATE SET capacity = excluded.capacity`,
  dropCapacity: "DELETE FROM history_capacity WHERE resource = ?",
  putUpkeep: `
    INSERT INTO history_upkeep (resource, pool, id, claim, dirty_at, ready_at)
    VALUES (?, ?, ?, ?, ?, ?)`,
  putDirty: `
    INSERT INTO history_dirty VALUES (?, ?)
    ON CONFLICT (resource) DO UPDATE SET dirty = excluded.dirty`,
  dropDirty: "DELETE FROM history_dirty WHERE resource = ?",
  putCharge: `
    INSERT INTO history_charge
      (resource, instance, pool, template, space, price, from_at, to_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  putCharged: `
    INSERT INTO history_charged VALUES (?, ?)
    ON CONFLICT (resource) DO UPDATE SET charge = excluded.charge`,
  dropCharged: "DELETE FROM history_charged WHERE resource = ?",
  putPrice: `
    INSERT INTO history_price VALUES (?, ?)
    ON CONFLICT (pool) DO UPDATE SET price = excluded.price`,
  putLimit: `
    INSERT INTO history_limit VALUES (?, ?, ?)
    ON CONFLICT (pool, at) DO UPDATE SET max = excluded.max`,
  seenAt: "SELECT seen_at FROM history_place",
  seen: "UPDATE history_place SET seen_at = ?",
  putOutage: "INSERT INTO history_outage (what, name, from_at, to_at) VALUES (?, ?, ?, ?)",
  hubAway: `
    INSERT INTO history_outage (what, name, from_at)
    SELECT 'hub', ?1, ?2 WHERE NOT EXISTS
      (SELECT 1 FROM history_outage WHERE what = 'hub' AND name = ?1 AND to_at IS NULL)`,
  hubBack: `
    UPDATE history_outage SET to_at = ? WHERE what = 'hub' AND name = ? AND to_at IS NULL`,
  forgetOutages: "DELETE FROM history_outage WHERE to_at < ?",
  forgetLimits: `
    DELETE FROM history_limit WHERE EXISTS (
      SELECT 1 FROM history_limit AS later
      WHERE later.pool = history_limit.pool AND later.at > history_limit.at AND later.at < ?)`,
  forgetCharges: `
    DELETE FROM history_charge WHERE to_at < ?
    AND number IN (SELECT number FROM history_charge ORDER BY number LIMIT ${forgetChunk})`,
  forgetUpkeep: `
    DELETE FROM history_upkeep WHERE ready_at < ?
    AND number IN (SELECT number FROM history_upkeep ORDER BY number LIMIT ${forgetChunk})`,
  putSize: `
    INSERT INTO history_size VALUES (?, ?, ?, ?)
    ON CONFLICT (pool, at) DO UPDATE SET size = excluded.size, capacity = excluded.capacity`,
  forget: `
    DELETE FROM history WHERE ended_at < ?
    AND number IN (SELECT number FROM history ORDER BY number LIMIT ${forgetChunk})`,
  /** The last size before that time is still valid after it. */
  forgetSizes: `
    DELETE FROM history_size WHERE EXISTS (
      SELECT 1 FROM history_size AS later
      WHERE later.pool = history_size.pool AND later.at > history_size.at AND later.at < ?)`,
} as const;

/**
 * Stores history in a file next to the journal, or in a database in memory. The result of some
 * events and the number of the last event are written in one transaction, so a crash never loses or
 * duplicates an entry.
 *
 * Commits are not synced: after a power cut, the last ones are missing as a whole and are built
 * again from the journal, which is synced. `sync` must be called before the journal prunes events.
 */
export class HistoryStore {
  readonly #file: DerivedFile<typeof sql>;
  readonly #run: DerivedFile<typeof sql>["run"];
  readonly #stored = new Set<string>();
  #seq = 0;

  private constructor(path: string, database: DatabaseSync) {
    this.#file = new DerivedFile(database, sql, "the history", path);
    this.#run = this.#file.run;
  }

  /**
   * Creates the file if it is missing. Throws `JournalUnusable` if it is damaged, of another
   * program or of a newer Berth, `JournalUnavailable` if the disk is full or fails.
   */
  static open(path: string, options: OpenOptions = {}): HistoryStore {
    return new HistoryStore(path, openHistoryFile(path, options));
  }

  static inMemory(): HistoryStore {
    return new HistoryStore(":memory:", historyInMemory());
  }

  get database(): DatabaseSync {
    return this.#file.database;
  }

  /** The number of the last processed event. */
  get seq(): number {
    return this.#seq;
  }

  load(): Standing & { readonly journal: string; readonly hasCapacities: boolean } {
    return this.#file.attempt("read", () => {
      const place = this.#run.place.get();
      this.#seq = Number(place?.["seq"]);
      const open = new Map<string, OpenEntry>();
      for (const { id, entry } of this.database.prepare("SELECT * FROM history_open").iterate()) {
        open.set(String(id), JSON.parse(String(entry)) as OpenEntry);
      }
      this.#stored.clear();
      for (const id of open.keys()) this.#stored.add(id);
      const members = new Map<string, string>();
      const rows = this.database.prepare("SELECT * FROM history_member");
      for (const { resource, pool } of rows.iterate()) members.set(String(resource), String(pool));
      const capacities = readCapacities(this.database);
      const dirty = readDirty(this.database);
      const charged = readCharged(this.database);
      const prices = readPrices(this.database);
      const journal = String(place?.["journal"]);
      const hasCapacities = Number(place?.["has_capacities"]) === 1;
      const lastNumber = Number(place?.["last_number"]);
      const clusters = { charged, prices };
      return { open, members, capacities, dirty, ...clusters, lastNumber, journal, hasCapacities };
    });
  }

  /** Writes everything, or nothing and throws. `seq` is the last event behind the changes. */
  save(seq: number, changes: Changes, open: ReadonlyMap<string, OpenEntry>): void {
    const stored: string[] = [];
    const dropped: string[] = [];
    this.#file.transact(() => {
      for (const entry of changes.ended) this.#insert(entry);
      for (const id of changes.touched) {
        const entry = open.get(id);
        if (entry !== undefined) {
          this.#run.putOpen.run(id, JSON.stringify(entry));
          stored.push(id);
        } else if (this.#stored.has(id)) {
          this.#run.dropOpen.run(id);
          dropped.push(id);
        }
      }
      this.#saveSizes(changes);
      this.#saveUpkeep(changes);
      this.#saveCharges(changes);
      this.#saveMarks(changes);
      this.#run.move.run(seq, changes.ended.at(-1)?.number ?? 0);
    });
    for (const id of stored) this.#stored.add(id);
    for (const id of dropped) this.#stored.delete(id);
    this.#seq = seq;
  }

  /** The server runs from now on. It did not run since it was last seen. */
  runBegan(at: number): void {
    this.#file.attempt("write", () => {
      const seenAt = this.#run.seenAt.get()?.["seen_at"] ?? null;
      if (seenAt !== null) {
        this.#run.putOutage.run("server", null, Math.min(Number(seenAt), at), at);
      }
      this.#run.seen.run(at);
    });
  }

  /** The server runs at this time. */
  runSeen(at: number): void {
    if (this.database.isOpen) this.#file.attempt("write", () => this.#run.seen.run(at));
  }

  addOutage({ what, name, from, to }: Outage): void {
    this.#file.attempt("write", () => this.#run.putOutage.run(what, name, from, to));
  }

  /** Records that the capacities of all shared resources are stored, and which pools have some. */
  nameSharedPools(pools: Iterable<string>): void {
    this.#file.attempt("write", () => {
      for (const pool of pools) this.#run.markShared.run(pool);
      this.#run.haveCapacities.run();
    });
  }

  /** Records that the events come from this journal. */
  nameJournal(journal: string): void {
    this.#file.attempt("write", () => this.#run.nameJournal.run(journal));
  }

  /** Afterwards everything that was saved survives a power cut. */
  sync(): void {
    this.#file.sync();
  }

  /** Deletes some entries that ended before then. Returns whether there may be more. */
  forget(before: number): boolean {
    return this.#file.attempt("prune", () => {
      this.#run.forgetUpkeep.run(before);
      this.#run.forgetCharges.run(before);
      const { changes } = this.#run.forget.run(before);
      if (Number(changes) === forgetChunk) return true;
      this.#run.forgetSizes.run(before);
      this.#run.forgetLimits.run(before);
      this.#run.forgetOutages.run(before);
      return false;
    });
  }

  close(): void {
    this.#file.close();
  }

  #saveSizes({ members, capacities, sizes }: Changes): void {
    for (const [resource, pool] of members) {
      if (pool === null) this.#run.dropMember.run(resource);
      else this.#run.putMember.run(resource, pool);
    }
    for (const [resource, capacity] of capacities) {
      if (capacity === null) this.#run.dropCapacity.run(resource);
      else this.#run.putCapacity.run(resource, JSON.stringify(capacity));
    }
    for (const { pool, at, size, capacity } of sizes.values()) {
      this.#run.putSize.run(pool, at, size, jsonOrNull(capacity));
    }
  }

  #saveUpkeep({ upkeep, dirty }: Changes): void {
    for (const { resource, pool, id, claim, dirtyAt, readyAt } of upkeep) {
      this.#run.putUpkeep.run(resource, pool, id, claim, dirtyAt, readyAt);
    }
    for (const [resource, found] of dirty) {
      if (found === null) this.#run.dropDirty.run(resource);
      else this.#run.putDirty.run(resource, JSON.stringify(found));
    }
  }

  #saveCharges({ charges, charged, prices }: Changes): void {
    for (const { resource, instance, pool, template, space, price, fromAt, toAt } of charges) {
      const what = [resource, instance, pool, template, space] as const;
      this.#run.putCharge.run(...what, price, fromAt, toAt);
    }
    for (const [resource, charge] of charged) {
      if (charge === null) this.#run.dropCharged.run(resource);
      else this.#run.putCharged.run(resource, JSON.stringify(charge));
    }
    for (const [pool, price] of prices) this.#run.putPrice.run(pool, price);
  }

  #saveMarks({ limits, hubs }: Changes): void {
    for (const { pool, at, limit } of limits) this.#run.putLimit.run(pool, at, limit);
    for (const { name, at, isAway } of hubs) {
      if (isAway) this.#run.hubAway.run(name, at);
      else this.#run.hubBack.run(at, name);
    }
  }

  #insert(entry: HistoryEntry): void {
    const { number, id, claim, holder, space, pool, resource, count, priority } = entry;
    const { askedAt, askedSeq, grantedAt, endedAt, how, waitedFor, purpose } = entry;
    this.#run.insert.run(
      ...([number, id, claim, holder, space, pool, resource, count, priority] as const),
      ...([askedAt, askedSeq, grantedAt, endedAt, how, waitedFor, purpose] as const),
      ...([jsonOrNull(entry.amount), jsonOrNull(entry.asked)] as const),
    );
  }
}

function jsonOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
