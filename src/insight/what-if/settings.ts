import { changePools } from "../../config/change-pools.ts";
import type { ConfigProblem } from "../../config/document.ts";
import { type Room, roomFor } from "../../config/read-pool.ts";
import { fieldAt } from "../../core/model/fields.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { policyFields } from "../../core/model/policy-fields.ts";

/** `POOL.KEY=VALUE`: a new value for a key of a pool, as in the configuration file. */
export interface Setting {
  readonly pool: string;
  /** For example `count`, or `pace.every` for a nested key. */
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

/**
 * The name of a pool may contain dots, so the longest known name at the start of the text counts.
 */
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

/** For the resources of settings that are simulated together. */
export function settingsRoom(max?: number): Room {
  return roomFor("the settings make", max);
}

/**
 * Returns the pools with the new values, parsed like the file: every policy key that has an effect
 * can be set, and errors have the same text as for the file.
 */
export function withSettings(
  pools: readonly PoolSpec[],
  settings: readonly Setting[],
  room: Room = settingsRoom(),
): readonly PoolSpec[] {
  if (settings.length === 0) return pools;
  const changes = emptyTree();
  for (const { pool, key, value } of settings) {
    if (pools.every(({ name }) => name !== pool)) {
      throw new BadSetting(`Cannot set "${pool}.${key}": there is no such pool`, "Fix the name");
    }
    put(changes, [pool, ...key.split(".")], valueFrom(key, value));
  }
  const changed = changePools(pools, changes, room);
  if (changed.ok) return changed.pools;
  const hint = "Use the keys and values of the configuration file";
  throw new BadSetting(`Cannot use these settings:${changed.problems.map(inWords)}`, hint);
}

/** The pools that the settings change, for `whatIf`. Without settings, everything is replayed. */
export function changedBy(settings: readonly Setting[]): { changed?: readonly string[] } {
  return settings.length === 0 ? {} : { changed: settings.map(({ pool }) => pool) };
}

/** Without the line number, because there is no file. */
function inWords({ path, message, hint }: ConfigProblem): string {
  return ` ${path.replace(/^pools\./, "")}: ${message} (${hint})`;
}

/**
 * A key with a list is split at commas, a number becomes a number, yes or no becomes true or false,
 * and all else stays text.
 */
function valueFrom(key: string, text: string): unknown {
  const type = fieldAt(policyFields, key.split("."))?.kind.type;
  if (type === "choices" || type === "states") return text.split(",");
  if (type === "flag" && /^(?:true|false)$/.test(text)) return text === "true";
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

interface Tree {
  [key: string]: unknown;
}

/** Has no prototype, so that `__proto__` is an ordinary key, which no pool has. */
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
