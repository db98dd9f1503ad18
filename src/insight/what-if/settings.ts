import { parseConfig } from "../../config/parse.ts";
import type { ConfigProblem } from "../../config/problem.ts";
import { formatDuration } from "../../core/model/duration.ts";
import type { PacePolicy, PoolPolicy, PoolSpec } from "../../core/model/policy.ts";

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
 * The pools with other values, read by the very code that reads the file: so each key that the file
 * has can be set, and what the file refuses is refused here with the same words.
 */
export function withSettings(
  pools: readonly PoolSpec[],
  settings: readonly Setting[],
): readonly PoolSpec[] {
  if (settings.length === 0) return pools;
  const changed = new Map<string, Record<string, unknown>>();
  for (const { pool, key, value } of settings) {
    const spec = pools.find(({ name }) => name === pool);
    if (spec === undefined) {
      throw new BadSetting(`Cannot set "${pool}.${key}": there is no such pool`, "Mend the name");
    }
    const written = changed.get(pool) ?? writtenPool(spec);
    if (key === "count") delete written["members"];
    put(written, key.split("."), value);
    changed.set(pool, written);
  }
  const parsed = parseConfig(JSON.stringify({ pools: Object.fromEntries(changed) }), "--set");
  if (!parsed.ok) {
    const hint = "Give keys and values as the configuration file has them";
    throw new BadSetting(`Cannot use these settings:${parsed.problems.map(inWords)}`, hint);
  }
  const replaced = new Map(parsed.pools.map((pool) => [pool.name, pool]));
  const resized = new Set(settings.filter(({ key }) => key === "count").map(({ pool }) => pool));
  return pools.map((pool) => {
    const other = replaced.get(pool.name);
    if (other === undefined) return pool;
    const members = resized.has(pool.name) ? other.members : pool.members;
    // What is not set stays, also what has no place in so small a file, such as a parent.
    return { ...pool, members, policy: { ...pool.policy, ...other.policy } };
  });
}

/** Those that settings change, as `whatIf` wants to know; without any setting all is replayed. */
export function changedBy(settings: readonly Setting[]): { changed?: readonly string[] } {
  return settings.length === 0 ? {} : { changed: settings.map(({ pool }) => pool) };
}

/** Without the line: nobody has written a file. */
function inWords({ path, message, hint }: ConfigProblem): string {
  return ` ${path.replace(/^pools\./, "")}: ${message} (${hint})`;
}

/** Numbers are numbers in the file, and all else is text. */
function put(into: Record<string, unknown>, path: readonly string[], value: string): void {
  const [key = "", ...rest] = path;
  if (rest.length === 0) {
    into[key] = /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
    return;
  }
  const inner = into[key];
  const map = typeof inner === "object" && inner !== null ? { ...inner } : {};
  put(map as Record<string, unknown>, rest, value);
  into[key] = map;
}

/** A pool as it would stand in the file. */
function writtenPool({ policy, members }: PoolSpec): Record<string, unknown> {
  return { ...writtenPolicy(policy), members: members.map(({ name }) => name) };
}

const durations = ["ttl", "lifetime", "hold", "cooldown", "lockDelay", "patience"] as const;

function writtenPolicy(policy: PoolPolicy): Record<string, unknown> {
  const written: Record<string, unknown> = {
    onRelease: policy.onRelease,
    onExpire: policy.onExpire,
  };
  for (const key of durations) {
    const valueMs = policy[`${key}Ms`];
    if (valueMs !== null) written[key] = formatDuration(valueMs);
  }
  const { pace, limit, dynamic } = policy;
  if (pace !== undefined) written["pace"] = writtenPace(pace);
  if (limit !== undefined) written["limit"] = limit;
  if (dynamic !== undefined) {
    const { min, max, state, lifespanMs } = dynamic;
    const lifespan = lifespanMs === null ? undefined : { lifespan: formatDuration(lifespanMs) };
    written["dynamic"] = { min, max, state, ...lifespan };
  }
  return written;
}

function writtenPace({ everyMs, burst, jitter }: PacePolicy): Record<string, unknown> {
  return { every: everyMs === "auto" ? everyMs : formatDuration(everyMs), burst, jitter };
}
