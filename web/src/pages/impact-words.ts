/** Sentences about what an action does to others. */
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import { parseDuration, roughDuration } from "../../../src/core/model/time.ts";
import { grouped } from "../parts/numbers.ts";
import { outOf } from "./pool-facts.ts";

/** After one more resource is drained. */
export function leftWords(pool: Pool): string {
  const left = Math.max(0, pool.total - outOf(pool) - 1);
  const waits = pool.waiting === 0 ? "" : `; ${grouped(pool.waiting)} waiting now`;
  if (left === 0)
    return `Nothing else of ${pool.name} is in service: requests wait until it is undrained${waits}.`;
  const of = `${grouped(left)} of ${grouped(pool.total)}`;
  return `${of} in ${pool.name} ${left === 1 ? "is" : "are"} left in service${waits}.`;
}

/** Who gets what comes back: only where nothing else is free does somebody wait for just that. */
export function backWords({ name, free, waiting, usage }: Pool): string {
  if (waiting === 0) return `Nobody waits for ${name} now.`;
  if (usage !== undefined) return `${grouped(waiting)} wait for ${name} now.`;
  if (free > 0) return `${grouped(free)} of ${name} are free already; ${grouped(waiting)} waiting.`;
  return `Nothing of ${name} is free: the next of ${grouped(waiting)} waiting gets it.`;
}

/** In queue order. */
export function nextWords(
  pool: string,
  queue: readonly Pick<WaitingRequest, "holder" | "queuedAt">[],
  nowMs: number,
): string {
  const [first] = queue;
  if (first === undefined) return `Nobody waits for ${pool} now.`;
  const waited = roughDuration(Math.max(0, nowMs - Date.parse(first.queuedAt)));
  const more = queue.length === 1 ? "" : `, and ${grouped(queue.length - 1)} more wait`;
  return `Next for ${pool}: ${first.holder}, which has waited for ${waited}${more}.`;
}

export function heldWords(grantedAt: string, nowMs: number): string {
  return roughDuration(Math.max(0, nowMs - Date.parse(grantedAt)));
}

/**
 * How long the job of an ended lease may still take: heartbeats no longer extend it, so its timeout counts from the last
 * one. `expiresAt` is one of `expiryOf`, `end` of `endOf`.
 */
export function deadlineWords(
  expiresAt: string | null,
  end: { readonly at: string; readonly why: string } | null,
  nowMs: number,
): string {
  if (expiresAt === null) return "until its heartbeat timeout to release it";
  const isFirst = end !== null && Date.parse(end.at) < Date.parse(expiresAt);
  const { at, why } = isFirst ? end : { at: expiresAt, why: "heartbeat timeout" };
  return `${roughDuration(Math.max(0, Date.parse(at) - nowMs))} left to release it (${why})`;
}

/** When others get what an ended lease holds. `until` is one of `deadlineWords`, `pause` of `pauseWords`. */
export function lentAgainWords(until: string, pause: string): string {
  const then =
    pause === "" ? "Then it is lent again." : `Then it rests for ${pause} and is lent again.`;
  return `Its job is notified, and has ${until}. ${then}`;
}

/** `2s`: the longest lock delay of the pools; empty without one. */
export function pauseWords(pools: readonly Pick<Pool, "policy">[]): string {
  const pauses = pools.map(({ policy }) => parseDuration(policy.lockDelay) ?? 0);
  const longest = Math.max(0, ...pauses);
  return longest === 0 ? "" : roughDuration(longest);
}
