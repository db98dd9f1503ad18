/** What a client may add to `/acquire` beyond Boskos. */
import type { FastifyRequest } from "fastify";
import { limits } from "../../api/limits.ts";
import { parseGoDuration } from "../../core/model/go-duration.ts";
import type { Query } from "./wire.ts";

export interface AcquireOptions {
  /** Undefined if the client does not say how long it waits. */
  readonly waitMs: number | undefined;
  /** A number, or the name of a class. */
  readonly priority: number | string | undefined;
  readonly choice: Choice | undefined;
}

/** Which resources of the type may be granted. */
export interface Choice {
  readonly selector?: Readonly<Record<string, string>>;
  readonly resource?: string;
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
  if (priority !== "" && !isPriority(priority) && !className.test(priority)) {
    const range = `from -${limits.priorityMax} to ${limits.priorityMax}`;
    return { error: `priority: it must be a whole number ${range}, or a name` };
  }
  const choice = choiceIn(query);
  if (choice !== undefined && "error" in choice) return choice;
  return {
    waitMs: waited?.ok ? Math.max(0, waited.durationMs) : preferredWaitMs(request),
    priority: priorityIn(priority),
    choice,
  };
}

function choiceIn(query: Query): Choice | { readonly error: string } | undefined {
  const [selector, resource] = [query.get("selector"), query.get("resource")];
  if (selector === "" && resource === "") return undefined;
  const labels = selector === "" ? undefined : parseSelector(selector);
  if (labels === null)
    return { error: "selector: it must be KEY=VALUE pairs, separated by commas" };
  return {
    ...(labels === undefined ? undefined : { selector: labels }),
    ...(resource === "" ? undefined : { resource }),
  };
}

const labelKey = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/;

/** Parses `region=eu-west-1,tier=gold`. Returns null if it is something else. */
function parseSelector(text: string): Readonly<Record<string, string>> | null {
  const pairs = text.split(",").map((pair) => /^([^=]*)=(.*)$/su.exec(pair)?.slice(1) ?? []);
  const isFine = ([key = "", value = ""]: readonly string[]) =>
    labelKey.test(key) && value.length <= limits.labelValueLengthMax;
  if (pairs.length > limits.labelsMax || !pairs.every(isFine)) return null;
  return Object.fromEntries(pairs);
}

const className = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;

function priorityIn(text: string): number | string | undefined {
  if (text === "") return undefined;
  return className.test(text) ? text : Number(text);
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
