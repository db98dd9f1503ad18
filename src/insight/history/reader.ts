import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { Purpose } from "../../core/model/lifecycle.ts";
import type { Amounts } from "../../core/shared/placement/shareable.ts";
import { type CostQuery, type CostSum, costsIn } from "./costs.ts";
import {
  type Asked,
  type HistoryEntry,
  type OpenEntry,
  type Outage,
  type PoolSize,
  poolsOf,
} from "./entry.ts";
import { endedBelow, openBelow } from "./limit-entries.ts";
import { type PoolSamples, type SampleTimes, samplesOf } from "./samples.ts";
import { janitorHolder } from "./schema.ts";
import { type Stats, type StatsPart, type StatsRange, statsByPool, statsOf } from "./stats.ts";
import type { Dirty, Upkeep } from "./upkeep-fold.ts";
import { type UsualWait, usualWaitsOf } from "./usual-waits.ts";

export interface HistoryFilter {
  readonly pool?: string | undefined;
  readonly resource?: string | undefined;
  readonly holder?: string | undefined;
  readonly space?: string | undefined;
  /** One end, or several with commas between them. */
  readonly how?: string | undefined;
  readonly id?: string | undefined;
  readonly purpose?: Purpose | undefined;
  /** In the holder, the pool, the resource or the space, in any case. */
  readonly text?: string | undefined;
  /** Entries that ended at `since` or later, and before `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Statistics, and what explains gaps in them. */
export interface RecordedStats extends Stats {
  readonly outages: readonly Outage[];
}

/** The pools below one that is only a limit, and the limit that it has now. */
export interface LimitedPools {
  readonly pools: readonly string[];
  readonly limit: number;
}

export interface HistoryPage {
  readonly items: readonly HistoryEntry[];
  /** The value for `after`; null on the last page. */
  readonly next: string | null;
}

const columns = ["pool", "resource", "holder", "space", "id", "purpose"] as const;

/** What a text is looked for in. No name has a line feed, so no text matches across two of them. */
const words =
  "holder || char(10) || pool || char(10) || coalesce(resource, '') || char(10) || space";

/** Reads the data of a `HistoryStore`, with its own connection in another thread. */
/** What only the first event of a request says. */
export interface Asker {
  readonly holder: string;
  /** Empty: none. */
  readonly space: string;
  readonly pools: readonly string[];
}

export class HistoryReader {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The number of the last processed event. */
  get seq(): number {
    return Number(this.#database.prepare("SELECT seq FROM history_place").get()?.["seq"] ?? 0);
  }

  /** Latest entries first. */
  page(filter: HistoryFilter, limit: number, after?: string): HistoryPage {
    const found = [...this.#select(filter, { limit: limit + 1, after })];
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, next: found.length > limit && last ? String(last.number) : null };
  }

  /** The number of the first event of a request; undefined if history does not have it. */
  firstSeqOf(id: string): number | undefined {
    const open = this.#database.prepare("SELECT entry FROM history_open WHERE id = ?").get(id);
    if (open !== undefined) return (JSON.parse(String(open["entry"])) as OpenEntry).askedSeq;
    const ended = this.#database.prepare("SELECT min(asked_seq) AS seq FROM history WHERE id = ?");
    const seq = ended.get(id)?.["seq"] ?? null;
    return seq === null ? undefined : Number(seq);
  }

  /** Who asked for requests and leases, by id. Unknown ids are left out. */
  askersOf(ids: readonly string[]): Map<string, Asker> {
    const select = this.#database.prepare(
      `SELECT id, holder, space, pool FROM history WHERE id IN (SELECT value FROM json_each(?1))
       UNION SELECT open.id, entry ->> 'holder', entry ->> 'space', item.value ->> 'pool'
       FROM history_open AS open, json_each(entry -> 'items') AS item
       WHERE open.id IN (SELECT value FROM json_each(?1))`,
    );
    const askers = new Map<string, Asker>();
    for (const { id, holder, space, pool } of select.iterate(JSON.stringify(ids))) {
      const known = askers.get(String(id))?.pools ?? [];
      askers.set(String(id), {
        holder: String(holder),
        space: String(space),
        pools: [...new Set([...known, String(pool)])],
      });
    }
    return askers;
  }

  /** The resources that a pool has now. */
  membersOf(pool: string): Set<string> {
    const select = this.#database.prepare("SELECT resource FROM history_member WHERE pool = ?");
    return new Set(select.all(pool).map(({ resource }) => String(resource)));
  }

  stats(range: StatsRange, pool?: string): RecordedStats {
    const stats = statsOf(range, {
      ended: this.endedSince(range.from, pool),
      open: ofPool(this.open(), pool),
      sizes: this.sizes(pool),
    });
    return { ...stats, outages: this.#outages(range) };
  }

  statsByPool(range: StatsRange): Map<string, StatsPart> {
    const ended = this.endedSince(range.from);
    return statsByPool(range, { ended, open: this.open(), sizes: this.sizes() });
  }

  /**
   * Of a pool that is only a limit: the claims of the pools below it, against the limit of each time.
   */
  limitStats(range: StatsRange, pool: string, { pools, limit }: LimitedPools): RecordedStats {
    const below = new Set(pools);
    const stats = statsOf(range, {
      ended: endedBelow(this.endedSince(range.from), below),
      open: openBelow(this.open(), below),
      sizes: this.#limitsAsSizes(pool, pools, limit),
    });
    return { ...stats, outages: this.#outages(range) };
  }

  /** An older Berth recorded no limits: then the present one counts since the pools exist. */
  #limitsAsSizes(pool: string, below: readonly string[], limit: number): PoolSize[] {
    const select = "SELECT at, max FROM history_limit WHERE pool = ? ORDER BY at";
    const known = hasTable(this.#database, "history_limit")
      ? this.#database.prepare(select).all(pool)
      : [];
    const sizes = known.map(({ at, max = null }) => ({ pool, at: Number(at), size: Number(max) }));
    const starts = below.flatMap((name) => [...this.sizes(name)].map(({ at }) => at));
    const first = Math.min(...starts);
    const missing = Number.isFinite(first) && first < (sizes[0]?.at ?? Number.POSITIVE_INFINITY);
    return missing ? [{ pool, at: first, size: sizes[0]?.size ?? limit }, ...sizes] : sizes;
  }

  #outages({ from, to }: StatsRange): Outage[] {
    if (!hasTable(this.#database, "history_outage")) return [];
    const select = this.#database.prepare(
      `SELECT what, name, from_at, to_at FROM history_outage
       WHERE from_at < ?1 AND coalesce(to_at, ?1) >= ?2 ORDER BY from_at`,
    );
    return select.all(to, from).map((row) => ({
      what: String(row["what"]) as Outage["what"],
      name: row["name"] === null ? null : String(row["name"]),
      from: Number(row["from_at"]),
      to: row["to_at"] === null ? null : Number(row["to_at"]),
    }));
  }

  costs(query: CostQuery): CostSum[] {
    return hasTable(this.#database, "history_charge") ? costsIn(this.#database, query) : [];
  }

  /** How long requests of each pool have waited since then. Cleaning is no request. */
  usualWaits(since: number, now: number): UsualWait[] {
    const select = this.#database.prepare(
      `SELECT pool, granted_at - asked_at AS wait, granted_at AS at FROM history
       WHERE number >= ? AND granted_at IS NOT NULL AND purpose = 'use'`,
    );
    const rows = select.iterate(this.#firstFrom(since));
    return usualWaitsOf(
      rows.map(({ pool, wait, at }) => [String(pool), Number(wait), Number(at)] as const),
      now,
    );
  }

  samples(times: SampleTimes): PoolSamples[] {
    const ended = this.endedSince(times.from);
    return samplesOf(times, { ended, open: this.open(), sizes: this.sizes() });
  }

  /** In the order of their ends. */
  endedSince(since: number, pool?: string): Iterable<HistoryEntry> {
    return this.#select({ since, pool }, { order: "ASC" });
  }

  /**
   * The sets of pools that were requested together since then: by one request, as its alternatives,
   * or by requests of one group. Each set of one request comes once.
   */
  *companies(since: number): Generator<readonly string[], void, undefined> {
    const first = this.#firstFrom(since);
    const groups = new Map<string, Set<string>>();
    const asked = this.#database.prepare(
      "SELECT DISTINCT asked FROM history WHERE number >= ? AND asked IS NOT NULL",
    );
    for (const row of asked.iterate(first)) {
      const { items, group } = JSON.parse(String(row["asked"])) as Asked;
      const pools = items.flatMap(poolsOf);
      yield pools;
      if (group === undefined) continue;
      const together = groups.get(group.name) ?? new Set();
      groups.set(group.name, together);
      for (const pool of pools) together.add(pool);
    }
    for (const pools of groups.values()) yield [...pools];
    const select = this.#database.prepare(
      `SELECT DISTINCT json_group_array(DISTINCT pool) AS pools FROM history WHERE number >= ?
       GROUP BY id HAVING min(pool) <> max(pool)`,
    );
    for (const { pools } of select.iterate(first)) {
      yield JSON.parse(String(pools)) as string[];
    }
  }

  *open(): Generator<OpenEntry, void, undefined> {
    for (const { entry } of this.#database.prepare("SELECT entry FROM history_open").iterate()) {
      yield JSON.parse(String(entry)) as OpenEntry;
    }
  }

  *sizes(pool?: string): Generator<PoolSize, void, undefined> {
    const where = pool === undefined ? "" : "WHERE pool = ?";
    const select = this.#database.prepare(`SELECT * FROM history_size ${where} ORDER BY pool, at`);
    for (const row of select.iterate(...(pool === undefined ? [] : [pool]))) {
      const capacity = jsonIn<Amounts>(row["capacity"]);
      yield {
        ...{ pool: String(row["pool"]), at: Number(row["at"]), size: Number(row["size"]) },
        ...(capacity === null ? undefined : { capacity }),
      };
    }
  }

  /** The times in which resources were dirty, in the order of their ends. */
  *upkeepSince(since: number): Generator<Upkeep, void, undefined> {
    if (!hasTable(this.#database, "history_upkeep")) return;
    const select = "SELECT * FROM history_upkeep WHERE ready_at >= ? ORDER BY number";
    for (const row of this.#database.prepare(select).iterate(since)) yield upkeepOf(row);
  }

  /** The last of them, in the order of their ends. */
  latestUpkeep(limit: number): readonly Upkeep[] {
    const select = "SELECT * FROM history_upkeep ORDER BY number DESC LIMIT ?";
    return this.#database.prepare(select).all(limit).map(upkeepOf).reverse();
  }

  /** Resources that are dirty, or being cleaned. */
  dirty(): Iterable<Dirty> {
    return readDirty(this.#database).values();
  }

  /** The last entries of all pools, latest first. */
  latest(limit: number): Iterable<HistoryEntry> {
    return this.#select({}, { limit });
  }

  *#select(
    filter: HistoryFilter,
    page: { limit?: number; after?: string | undefined; order?: "ASC" | "DESC" },
  ): Generator<HistoryEntry, void, undefined> {
    const wheres: string[] = [];
    const values: SQLInputValue[] = [];
    const where = (text: string, value: SQLInputValue | undefined) => {
      if (value === undefined) return;
      wheres.push(text);
      values.push(value);
    };
    for (const column of columns) where(`${column} = ?`, filter[column]);
    const hows = filter.how === undefined ? undefined : JSON.stringify(filter.how.split(","));
    where("how IN (SELECT value FROM json_each(?))", hows);
    where(`instr(lower(${words}), ?) > 0`, filter.text?.toLowerCase());
    where("number >= ?", filter.since === undefined ? undefined : this.#firstFrom(filter.since));
    where("number < ?", filter.until === undefined ? undefined : this.#firstFrom(filter.until));
    where("number < ?", page.after === undefined ? undefined : Number(page.after));
    const condition = wheres.length === 0 ? "" : `WHERE ${wheres.join(" AND ")}`;
    const order = `ORDER BY number ${page.order ?? "DESC"}`;
    const limit = page.limit === undefined ? "" : `LIMIT ${page.limit}`;
    const select = this.#database.prepare(`SELECT * FROM history ${condition} ${order} ${limit}`);
    for (const row of select.iterate(...values)) yield entryOf(row);
  }

  /**
   * The number of the first entry that ended at this time or later. Ends are in order, so bisection
   * works.
   */
  #firstFrom(time: number): number {
    const bounds = this.#database
      .prepare("SELECT min(number) AS low, max(number) AS high FROM history")
      .get();
    const at = this.#database.prepare(
      "SELECT number, ended_at FROM history WHERE number >= ? ORDER BY number LIMIT 1",
    );
    let low = Number(bounds?.["low"] ?? 0);
    let high = Number(bounds?.["high"] ?? 0) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = at.get(middle);
      if (row === undefined || Number(row["ended_at"]) >= time) high = middle;
      else low = Number(row["number"]) + 1;
    }
    return low;
  }
}

function entryOf(row: Record<string, SQLOutputValue>): HistoryEntry {
  // A column that an older Berth did not have is absent.
  const text = (name: string) => ((row[name] ?? null) === null ? null : String(row[name]));
  const number = (name: string) => Number(row[name]);
  return {
    number: number("number"),
    id: String(row["id"]),
    claim: text("claim"),
    holder: String(row["holder"]),
    space: String(row["space"]),
    purpose: purposeIn(row["purpose"]) ?? purposeOf(row),
    pool: String(row["pool"]),
    resource: text("resource"),
    count: number("count"),
    amount: jsonIn<Amounts>(row["amount"]),
    asked: jsonIn<Asked>(row["asked"]),
    priority: number("priority"),
    askedAt: number("asked_at"),
    askedSeq: number("asked_seq"),
    grantedAt: row["granted_at"] === null ? null : number("granted_at"),
    waitedFor: text("waited_for"),
    endedAt: number("ended_at"),
    how: String(row["how"]),
  };
}

/** The capacities of shared resources. Empty in tables of an older Berth. */
export function readCapacities(database: DatabaseSync): Map<string, Amounts> {
  if (!hasTable(database, "history_capacity")) return new Map();
  const rows = database.prepare("SELECT resource, capacity FROM history_capacity").all();
  return new Map(
    rows.map(({ resource, capacity = "{}" }) => {
      return [String(resource), JSON.parse(String(capacity)) as Amounts];
    }),
  );
}

/** Empty in tables of an older Berth. */
export function readDirty(database: DatabaseSync): Map<string, Dirty> {
  if (!hasTable(database, "history_dirty")) return new Map();
  const rows = database.prepare("SELECT resource, dirty FROM history_dirty").all();
  return new Map(
    rows.map(({ resource, dirty = "{}" }) => {
      return [String(resource), JSON.parse(String(dirty)) as Dirty];
    }),
  );
}

function hasTable(database: DatabaseSync, name: string): boolean {
  const select = "SELECT 1 FROM sqlite_schema WHERE name = ?";
  return database.prepare(select).get(name) !== undefined;
}

function upkeepOf(row: Record<string, SQLOutputValue>): Upkeep {
  const text = (name: string) => (row[name] === null ? null : String(row[name]));
  return {
    ...{ resource: String(row["resource"]), pool: String(row["pool"]) },
    ...{ id: text("id"), claim: text("claim") },
    ...{ dirtyAt: Number(row["dirty_at"]), readyAt: Number(row["ready_at"]) },
  };
}

/** Our own JSON. Absent in tables of an older Berth. */
function jsonIn<Value>(column: SQLOutputValue | undefined): Value | null {
  return typeof column === "string" ? (JSON.parse(column) as Value) : null;
}

function purposeIn(column: SQLOutputValue | undefined): Purpose | undefined {
  if (column === undefined || column === null) return undefined;
  return column === "clean" || column === "provision" ? column : "use";
}

/** The purpose of an entry in tables of an older Berth, which did not record it. */
function purposeOf({ holder }: Record<string, SQLOutputValue>): Purpose {
  return holder === janitorHolder ? "clean" : "use";
}

/** Open entries with only those items and claims that belong to the pool. */
export function* ofPool(entries: Iterable<OpenEntry>, pool: string | undefined) {
  for (const entry of entries) {
    if (pool === undefined) yield entry;
    else {
      const items = entry.items.filter((item) => item.pool === pool);
      const claims = entry.claims.filter((claim) => claim.pool === pool);
      // An alternative of an item may have been granted, so the item can be of another pool.
      if (items.length + claims.length > 0) yield { ...entry, items, claims };
    }
  }
}
