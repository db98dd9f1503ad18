/** What a client may add to `/acquire` beyond Boskos: how long it waits, and its priority. */
import type { FastifyRequest } from "fastify";
import { limits } from "../../api/limits.ts";
import { parseGoDuration } from "../../core/model/go-duration.ts";
import type { Query } from "./wire.ts";

export interface AcquireOptions {
  /** Undefined if the client does not say how long it waits. */
  readonly waitMs: number | undefined;
  readonly priority: number | undefined;
}

/** Returns the text of the error if a value cannot be used. */
export function parseAcquireOptions(
  query: Query,
  request: FastifyRequest,
): AcquireOptions | { readonly error: string } {
  const wait = query.get("wait");
  const waited = wait === "" ? undefined : parseGoDuration(wait);
  if (waited?.ok === false) return { error: `wait: ${waited.message}` };
  const priority = query.get("priority");
  if (priority !== "" && !isPriority(priority)) {
    const range = `from -${limits.priorityMax} to ${limits.priorityMax}`;
    return { error: `priority: it must be a whole number ${range}` };
  }
  return {
    waitMs: waited?.ok ? Math.max(0, waited.durationMs) : preferredWaitMs(request),
    priority: priority === "" ? undefined : Number(priority),
  };
}

function isPriority(text: string): boolean {
  return /^[+-]?\d+$/.test(text) && Math.abs(Number(text)) <= limits.priorityMax;
}

/** The header `Prefer: wait=SECONDS` of RFC 7240, for clients that cannot change their query. */
function preferredWaitMs({ headers }: FastifyRequest): number | undefined {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})\b/i.exec(
    String(headers["prefer"] ?? ""),
  )?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
