import { changePools } from "../../config/change-pools.ts";
import type { ConfigProblem } from "../../config/problem.ts";
import { fieldAt } from "../../core/model/fields.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { policyFields } from "../../core/model/policy-fields.ts";

/** `POOL.KEY=VALUE`: another value for a key of a pool, as it would stand in the file. */
export interface Setting {
  readonly pool: string;
  /** Such as `count`, or `pace.every` for a key within a key. */
  readonly key: string;
  readonly value: string;
}

/** Why a setting cannot be used; `hint` says what to write instead. */
export class BadSetting extends Error {
  override readonly name = "BadSetting";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** A pool's name may have dots, a key of the file has none: the last that leads to a key counts. */
export function parseSetting(text: string, pools: Iterable<string>): Setting {
  const [, place = "", value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  const fitting = [...pools].filter((name) => place.startsWith(`${name}.`));
  const pool = fitting.sort((a, b) => b.length - a.length)[0];
  if (pool !== undefined) return { pool, key: place.slice(pool.length + 1), value };
  const known = place.includes(".") ? "no pool has this name" : "it is not POOL.KEY=VALUE";
  throw new BadSetting(
    `Cannot set "${text}": ${known}`,
    "Write it like aws-account.count=12; see the pools with berth pools",
  );
}

/**
 * The pools with other values, read as the file is read: each key of a policy that makes a difference
 * can be set, and what the file refuses is refused in the same words.
 */
export function withSettings(
  pools: readonly PoolSpec[],
  settings: readonly Setting[],
): readonly PoolSpec[] {
  if (settings.length === 0) return pools;
  const changes = emptyTree();
  for (const { pool, key, value } of settings) {
    if (pools.every(({ name }) => name !== pool)) {
      throw new BadSetting(`Cannot set "${pool}.${key}": there is no such pool`, "Fix the name");
    }
    put(changes, [pool, ...key.split(".")], valueFrom(key, value));
  }
  const changed = changePools(pools, changes);
  if (changed.ok) return changed.pools;
  const hint = "Give keys and values as the configuration file has them";
  throw new BadSetting(`Cannot use these settings:${changed.problems.map(inWords)}`, hint);
}

/** Those that settings change, as `whatIf` wants to know; without any setting all is replayed. */
export function changedBy(settings: readonly Setting[]): { changed?: readonly string[] } {
  return settings.length === 0 ? {} : { changed: settings.map(({ pool }) => pool) };
}

/** Without the line: nobody has written a file. */
function inWords({ path, message, hint }: ConfigProblem): string {
  return ` ${path.replace(/^pools\./, "")}: ${message} (${hint})`;
}

/** Numbers are numbers in the file, a list is written with commas, and all else is text. */
function valueFrom(key: string, text: string): unknown {
  if (fieldAt(policyFields, key.split("."))?.kind.type === "choices") return text.split(",");
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

interface Tree {
  [key: string]: unknown;
}

/** Without a prototype: `__proto__` is a key like any other, which no pool has. */
function emptyTree(): Tree {
  return Object.create(null);
}

function put(into: Tree, [key = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[key] = value;
    return;
  }
  const inner = into[key];
  const map = Object.assign(emptyTree(), typeof inner === "object" ? inner : undefined);
  put(map, rest, value);
  into[key] = map;
}
