/** What `run` and `acquire` have in common: how to say what is wanted. */
import type { Option } from "commander";
import { limits } from "../../api/limits.ts";
import type { AskBody } from "../../api/schemas.ts";
import { formatDuration } from "../../core/model/duration.ts";
import { usageError } from "../failure.ts";
import { flag, repeatedFlag } from "../flags.ts";
import * as values from "../values.ts";
import { defaultHolder } from "./holder.ts";
import { type PlacingFlags, placed, placingOptions } from "./placement-flags.ts";

/** How long somebody waits. */
export interface WaitFlags {
  readonly timeout?: number;
  readonly connectTimeout?: number;
}

export interface AskFlags extends PlacingFlags, WaitFlags {
  readonly pool?: readonly values.PoolCount[];
  readonly holder?: string;
  readonly ttl?: number;
  readonly lifetime?: number;
  readonly priority?: number;
  readonly label?: readonly (readonly [string, string])[];
  readonly requestId?: string;
}

export function askOptions(): Option[] {
  const priority = values.wholeNumber(-limits.priorityMax, limits.priorityMax);
  return [
    repeatedFlag(
      "--pool <pool[,pool][:n]>",
      "what to ask for, any of several; repeat it for more",
      values.poolCount,
    ),
    ...placingOptions(),
    flag(
      "--holder <who>",
      "who asks, for people to read; the CI build unless given",
      values.holder,
    ),
    flag("--ttl <duration>", "lost after so long without a heartbeat; else the pool's", values.ttl),
    flag("--lifetime <duration>", "never hold it longer than this", values.lifetime),
    flag("--priority <n>", "higher goes first; 0 unless given", priority),
    repeatedFlag("--label <key=value>", "kept with the lease, for people to read", values.label),
    flag(
      "--request-id <id>",
      "your own id: who asks twice with it gets one lease",
      values.requestId,
    ),
    ...waitOptions(),
  ];
}

export function waitOptions(): Option[] {
  return [
    flag("--timeout <duration>", "leave the queue and exit 75 after so long", values.duration()),
    flag(
      "--connect-timeout <duration>",
      "how long to try while the server does not answer; 30s unless given",
      values.duration(),
    ),
  ];
}

/** Items of the same pool are added up. */
export function askOf(flags: AskFlags, name: string, verb: string): AskBody {
  const { pool = [], holder, requestId } = flags;
  if (pool.length === 0) {
    throw usageError(
      `Cannot ${verb}: no pool is named`,
      "Say what you need with --pool POOL; see them: berth pools",
    );
  }
  return {
    items: placed(addedUp(pool), flags),
    holder: holder ?? defaultHolder(name),
    ...askedBeside(flags),
    ...(requestId === undefined ? undefined : { requestId }),
    ...(flags.group === undefined ? undefined : { group: flags.group }),
  };
}

/** What is said of every request of a job, whatever it asks for. */
export function askedBeside(flags: AskFlags): Omit<AskBody, "items" | "holder"> {
  const { ttl, lifetime, priority, label } = flags;
  return {
    ...(ttl === undefined ? undefined : { ttl: formatDuration(ttl) }),
    ...(lifetime === undefined ? undefined : { lifetime: formatDuration(lifetime) }),
    ...(priority === undefined ? undefined : { priority }),
    ...(label === undefined ? undefined : { labels: Object.fromEntries(label) }),
  };
}

function addedUp(asked: readonly values.PoolCount[]): AskBody["items"] {
  const counts = new Map<string, values.PoolCount>();
  for (const one of asked) {
    const key = String(one.anyOf ?? one.pool);
    counts.set(key, { ...one, count: (counts.get(key)?.count ?? 0) + one.count });
  }
  return Array.from(counts.values(), ({ pool, anyOf, count }) => {
    return anyOf === undefined ? { pool, count } : { anyOf: [...anyOf], count };
  });
}

/** Every pool that an ask may come to have something of. */
export function namedPools({ items }: Pick<AskBody, "items">): string[] {
  return items.flatMap(({ pool, anyOf = [] }) => (pool === undefined ? anyOf : [pool]));
}

/** `aws gcp|ibm`, as it is told in a log. */
export function wantedText({ items }: Pick<AskBody, "items">): string {
  return items.map(({ pool, anyOf = [] }) => pool ?? anyOf.join("|")).join(" ");
}
