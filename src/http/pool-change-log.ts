import { randomBytes } from "node:crypto";

/** A pool as the wire has it, by field. The name is one of them. */
export type PoolFields = Readonly<Record<string, unknown>> & { readonly name: string };

interface Field {
  readonly value: unknown;
  /** The version in which it got this value. */
  readonly version: number;
}

export interface Changes {
  readonly cursor: string;
  readonly whole: boolean;
  readonly pools: readonly PoolFields[];
}

/**
 * Knows which field of which pool has changed since when, so that a page with 240 pools reads what
 * has changed and not everything. It compares whole values: a rule about which event changes which
 * field would have to know all rules of lending.
 */
export class PoolChangeLog {
  /** A cursor of another process means nothing here. */
  readonly #process = randomBytes(6).toString("base64url");
  readonly #pools = new Map<string, Map<string, Field>>();
  #version = 0;
  /** The last version in which a pool or a field was removed: cursors before it get everything. */
  #removedIn = 0;

  /** Compares all pools with those of the last call. */
  update(pools: readonly PoolFields[]): void {
    const next = this.#version + 1;
    const names = new Set(pools.map(({ name }) => name));
    for (const name of this.#pools.keys()) {
      if (names.has(name)) continue;
      this.#pools.delete(name);
      this.#removedIn = next;
    }
    const changed = pools.filter((pool) => this.#updatePool(pool, next)).length;
    if (changed > 0 || this.#removedIn === next) this.#version = next;
  }

  since(cursor: string | undefined): Changes {
    const after = this.#versionIn(cursor);
    const pools: PoolFields[] = [];
    for (const [name, fields] of this.#pools) {
      const changed = [...fields].filter(([, { version }]) => version > after);
      if (changed.length === 0) continue;
      pools.push({ ...Object.fromEntries(changed.map(([key, { value }]) => [key, value])), name });
    }
    return { cursor: `${this.#process}.${this.#version}`, whole: after === -1, pools };
  }

  #updatePool(pool: PoolFields, next: number): boolean {
    const fields = this.#pools.get(pool.name) ?? new Map<string, Field>();
    this.#pools.set(pool.name, fields);
    let changed = false;
    for (const [key, value] of Object.entries(pool)) {
      const before = fields.get(key);
      if (before !== undefined && isSame(before.value, value)) continue;
      fields.set(key, { value, version: next });
      changed = true;
    }
    for (const key of fields.keys()) {
      if (key in pool) continue;
      fields.delete(key);
      this.#removedIn = next;
    }
    return changed;
  }

  /** -1: the reader needs everything. */
  #versionIn(cursor: string | undefined): number {
    const [process, text = ""] = cursor?.split(".") ?? [];
    const version = Number(text);
    const isKnown = process === this.#process && /^\d{1,15}$/.test(text);
    return isKnown && version >= this.#removedIn && version <= this.#version ? version : -1;
  }
}

/** For JSON values. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  if (left.length !== right.length || Array.isArray(a) !== Array.isArray(b)) return false;
  const others = new Map(right);
  return left.every(([key, value]) => others.has(key) && isSame(value, others.get(key)));
}
