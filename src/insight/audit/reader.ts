import type { DatabaseSync, StatementSync } from "node:sqlite";
import { auditCaller } from "../../api/audit-caller.ts";
import { auditVerb } from "../../api/audit-words.ts";
import type { Anchor, FiledEntry, StoredEntry } from "./chain.ts";
import { isDecision } from "./decision.ts";
import type { AuditEntry } from "./entry.ts";

export interface AuditFilter {
  readonly by?: string | undefined;
  readonly space?: string | undefined;
  readonly action?: string | undefined;
  readonly way?: string | undefined;
  readonly pool?: string | undefined;
  readonly resource?: string | undefined;
  readonly lease?: string | undefined;
  /** Only what somebody has decided, and what was refused. */
  readonly kind?: "decisions" | undefined;
  /** Anywhere in what people read of the caller, in small or large letters. */
  readonly caller?: string | undefined;
  /** Anywhere in names and reasons, in small or large letters. */
  readonly text?: string | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface AuditSearch {
  readonly filter: AuditFilter;
  readonly limit: number;
  readonly oldestFirst: boolean;
  /** The number of the last entry of the page before. */
  readonly after?: number | undefined;
}

export interface AuditPage {
  readonly items: readonly StoredEntry[];
  /** Where to go on; null at the end. A page may be short, or empty, and still have it. */
  readonly next: number | null;
  readonly last: Anchor | null;
}

/** One page looks at no more entries than this, which takes a fraction of a second. */
const scanMax = 100_000;

const columns = "SELECT number, at, body, previous, hash FROM audit";

export class AuditReader {
  readonly #newest: StatementSync;
  readonly #oldest: StatementSync;
  readonly #last: StatementSync;

  constructor(database: DatabaseSync) {
    const bounds = "at >= ? AND at < ?";
    this.#newest = database.prepare(
      `${columns} WHERE number < ? AND ${bounds} ORDER BY number DESC LIMIT ${scanMax}`,
    );
    this.#oldest = database.prepare(
      `${columns} WHERE number > ? AND ${bounds} ORDER BY number LIMIT ${scanMax}`,
    );
    this.#last = database.prepare("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1");
  }

  page({ filter, limit, oldestFirst, after }: AuditSearch): AuditPage {
    const { since = 0, until = Number.MAX_SAFE_INTEGER } = filter;
    const start = after ?? (oldestFirst ? 0 : Number.MAX_SAFE_INTEGER);
    const statement = oldestFirst ? this.#oldest : this.#newest;
    const items: StoredEntry[] = [];
    let scanned = 0;
    let reached = start;
    for (const row of statement.iterate(start, since, until)) {
      if (items.length === limit) return { items, next: reached, last: this.last() };
      scanned += 1;
      const entry = entryFrom(row);
      reached = entry.number;
      if (fits(filter, entry.body)) items.push(entry);
    }
    return { items, next: scanned === scanMax ? reached : null, last: this.last() };
  }

  last(): Anchor | null {
    const row = this.#last.get();
    return row === undefined ? null : { number: Number(row["number"]), hash: String(row["hash"]) };
  }
}

export function* allEntries(database: DatabaseSync): Generator<FiledEntry> {
  for (const row of database.prepare(`${columns} ORDER BY number`).iterate()) {
    yield { ...entryFrom(row), atMs: Number(row["at"]) };
  }
}

/** The last event of the journal that the file has recorded; null if it has recorded none. */
export function recordedIn(database: DatabaseSync): number | null {
  const place = database.prepare("SELECT journal, seq FROM audit_place").get();
  const isUsed = Number(place?.["seq"]) > 0 || place?.["journal"] !== "";
  return isUsed ? Number(place?.["seq"]) : null;
}

function entryFrom(row: Readonly<Record<string, unknown>>): StoredEntry {
  return {
    number: Number(row["number"]),
    body: String(row["body"]),
    previous: String(row["previous"]),
    hash: String(row["hash"]),
  };
}

const exact = ["action", "way", "lease"] as const;

function fits(filter: AuditFilter, body: string): boolean {
  const { by, caller, space, pool, resource, kind, text } = filter;
  const wanted = [...exact.map((key) => filter[key]), by, space, pool, resource];
  // Cheaper than to parse every entry.
  for (const name of wanted) {
    if (name !== undefined && !body.includes(JSON.stringify(name))) return false;
  }
  const isPlain = [...wanted, caller, kind, text].every((value) => value === undefined);
  if (isPlain) return true;
  const entry = JSON.parse(body) as AuditEntry;
  if (kind === "decisions" && !isDecision(entry)) return false;
  if (exact.some((key) => filter[key] !== undefined && entry[key] !== filter[key])) return false;
  // Without authentication the names that callers give are all that tells them apart.
  if (by !== undefined && entry.by !== by && entry.as !== by) return false;
  if (caller !== undefined && !hasText(auditCaller(entry), caller)) return false;
  if (space !== undefined && entry.space !== space && entry.leaseSpace !== space) return false;
  if (pool !== undefined && !entry.pools?.includes(pool)) return false;
  if (resource !== undefined && !entry.resources?.includes(resource)) return false;
  return text === undefined || hasText(textOf(entry), text);
}

function hasText(words: string, text: string): boolean {
  return words.toLowerCase().includes(text.toLowerCase());
}

/** With the verb that people read, such as `drained`. */
function textOf(entry: AuditEntry): string {
  const { by, as, space, leaseSpace, action, reason, lease, holder, detail } = entry;
  const { pools = [], resources = [] } = entry;
  const words = [by, as, space, leaseSpace, action, reason, lease, holder, ...pools, ...resources];
  words.push(auditVerb(entry));
  return [...words, ...Object.values(detail ?? {}).map((value) => JSON.stringify(value))].join(
    "\n",
  );
}
