/** The flags of `run` and `acquire` that describe the request. */
import type { Option } from "commander";
import type { AskBody } from "../../api/schemas.ts";
import { formatDuration } from "../../core/model/time.ts";
import { usageError } from "../failure.ts";
import { flag, repeatedFlag } from "../flags.ts";
import * as values from "../values.ts";
import { defaultHolder } from "./holder.ts";
import { type PlacementFlags, placementOptions, withPlacement } from "./placement-flags.ts";

export interface WaitFlags {
  readonly timeout?: number;
  readonly connectTimeout?: number;
}

export interface RequestFlags extends PlacementFlags, WaitFlags {
  readonly pool?: readonly values.PoolCount[];
  readonly holder?: string;
  readonly ttl?: number;
  readonly lifetime?: number;
  readonly priority?: number | string;
  readonly label?: readonly (readonly [string, string])[];
  readonly requestId?: string;
}

export function requestOptions(): Option[] {
  return [
    repeatedFlag(
      "--pool <pool[,pool][:n]>",
      "pool to lease from, or several to choose from; repeatable",
      values.poolCount,
    ),
    ...placementOptions(),
    flag(
      "--holder <who>",
      "holder's name, shown to other users; default: the CI build",
      values.holder,
    ),
    flag("--ttl <duration>", "heartbeat timeout of the lease; default: the pool's", values.ttl),
    flag("--lifetime <duration>", "maximum lifetime of the lease", values.lifetime),
    flag("--priority <n|name>", "higher goes first; default 0", values.priority),
    repeatedFlag("--label <key=value>", "label of the lease; repeatable", values.label),
    flag("--request-id <id>", "your own id; repeating it returns the same lease", values.requestId),
    ...waitOptions(),
  ];
}

export function waitOptions(): Option[] {
  return [
    flag("--timeout <duration>", "leave the queue and exit 75 after this time", values.duration()),
    flag(
      "--connect-timeout <duration>",
      "how long to retry while the server does not answer; default 30s",
      values.duration(),
    ),
  ];
}

/** Builds the request body. Sums the counts of the same pool. `verb` is for the error message. */
export function buildRequest(flags: RequestFlags, name: string, verb: string): AskBody {
  const { pool = [], holder, requestId } = flags;
  if (pool.length === 0) {
    throw usageError(`Cannot ${verb}: no pool is given`, "Add --pool POOL; list them: berth pools");
  }
  return {
    items: withPlacement(sumByPool(pool), flags),
    holder: holder ?? defaultHolder(name),
    ...commonRequestFields(flags),
    ...(requestId === undefined ? undefined : { requestId }),
    ...(flags.group === undefined ? undefined : { group: flags.group }),
  };
}

/** The fields that every request of a job has, including those through the lease proxy. */
export function commonRequestFields(flags: RequestFlags): Omit<AskBody, "items" | "holder"> {
  const { ttl, lifetime, priority, label } = flags;
  return {
    ...(ttl === undefined ? undefined : { ttl: formatDuration(ttl) }),
    ...(lifetime === undefined ? undefined : { lifetime: formatDuration(lifetime) }),
    ...(priority === undefined ? undefined : { priority }),
    ...(label === undefined ? undefined : { labels: Object.fromEntries(label) }),
  };
}

function sumByPool(asked: readonly values.PoolCount[]): AskBody["items"] {
  const counts = new Map<string, values.PoolCount>();
  for (const one of asked) {
    const key = String(one.anyOf ?? one.pool);
    counts.set(key, { ...one, count: (counts.get(key)?.count ?? 0) + one.count });
  }
  return Array.from(counts.values(), ({ pool, anyOf, count }) => {
    return anyOf === undefined ? { pool, count } : { anyOf: [...anyOf], count };
  });
}

/** Every pool that the request may get a resource from. */
export function namedPools({ items }: Pick<AskBody, "items">): string[] {
  return items.flatMap(({ pool, anyOf = [] }) => (pool === undefined ? anyOf : [pool]));
}

/** Formats the pools for the log, such as `aws gcp|ibm`. */
export function formatPools({ items }: Pick<AskBody, "items">): string {
  return items.map(({ pool, anyOf = [] }) => pool ?? anyOf.join("|")).join(" ");
}
