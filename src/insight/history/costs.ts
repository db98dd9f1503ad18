/** What clusters have cost in a time, by space, template and pool. */
import type { DatabaseSync } from "node:sqlite";
import type { Charge } from "./charge-fold.ts";

export interface CostQuery {
  readonly from: number;
  readonly to: number;
  /** Only this space; undefined: all. */
  readonly space?: string | undefined;
}

export interface CostSum {
  readonly space: string | null;
  readonly template: string;
  readonly pool: string;
  readonly clusters: number;
  readonly clusterMs: number;
  /** Price times milliseconds. */
  readonly costMs: number;
}

interface Span extends Charge {
  readonly toAt: number;
}

export function costsIn(database: DatabaseSync, { from, to, space }: CostQuery): CostSum[] {
  const sums = new Map<string, CostSum & { readonly seen: Set<string> }>();
  for (const span of spans(database, from, to)) {
    if (space !== undefined && span.space !== space) continue;
    const ms = Math.min(span.toAt, to) - Math.max(span.fromAt, from);
    if (ms <= 0) continue;
    const { template, pool } = span;
    const key = JSON.stringify([span.space, template, pool]);
    const before = sums.get(key);
    const seen = (before?.seen ?? new Set<string>()).add(span.instance);
    sums.set(key, {
      ...{ space: span.space, template, pool, clusters: seen.size, seen },
      clusterMs: (before?.clusterMs ?? 0) + ms,
      costMs: (before?.costMs ?? 0) + ms * span.price,
    });
  }
  return Array.from(sums.values(), ({ seen: _, ...sum }) => sum);
}

function* spans(
  database: DatabaseSync,
  from: number,
  to: number,
): Generator<Span, void, undefined> {
  const ended = database.prepare("SELECT * FROM history_charge WHERE to_at > ? AND from_at < ?");
  for (const row of ended.iterate(from, to)) {
    yield {
      resource: String(row["resource"]),
      instance: String(row["instance"]),
      pool: String(row["pool"]),
      template: String(row["template"]),
      space: row["space"] === null ? null : String(row["space"]),
      price: Number(row["price"]),
      fromAt: Number(row["from_at"]),
      toAt: Number(row["to_at"]),
    };
  }
  for (const charge of readCharged(database).values()) yield { ...charge, toAt: to };
}

export function readCharged(database: DatabaseSync): Map<string, Charge> {
  const rows = database.prepare("SELECT * FROM history_charged").all();
  return new Map(
    rows.map(({ resource, charge }) => [String(resource), JSON.parse(String(charge)) as Charge]),
  );
}

export function readPrices(database: DatabaseSync): Map<string, number> {
  const rows = database.prepare("SELECT * FROM history_price").all();
  return new Map(rows.map(({ pool, price }) => [String(pool), Number(price)]));
}
