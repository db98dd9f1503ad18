/**
 * The lease proxy's two calls as its clients know them: parameters from the query alone, names as JSON,
 * everything else as plain text that ends a line. The server and `berth run --proxy` both speak it; what
 * differs is who lends, and that is up to the operations.
 */
import { parseDuration } from "../core/model/time.ts";
import { Problem } from "./problem.ts";

export interface LeaseCall {
  readonly method: string;
  /** The path and the query, as they came. */
  readonly url: string;
  readonly body: string;
  /** `Prefer: handling=strict`: giving back what is not held is an error, as it once was. */
  readonly strict: boolean;
}

export interface Wanted {
  readonly type: string;
  readonly count: number;
  /** Beyond the original: how long to wait. 0: now or not at all. */
  readonly timeoutMs: number | undefined;
}

/** Who lends. What it throws must be a Problem, or is a bug. */
export interface LeaseOperations {
  /** The names of all that was asked for, in the order of the grant. */
  acquire(wanted: Wanted): Promise<readonly string[]>;
  /** False: it is not held, or no longer. */
  release(name: string): Promise<boolean>;
}

export interface LeaseAnswer {
  readonly status: number;
  readonly body: string;
  readonly json?: true;
  /** For people who look: what was odd about a call that was answered all the same. */
  readonly note?: string;
}

/** The code of a Problem for a wait that was over before anything came free. */
export const notGrantedCode = "not_granted";

export async function answerAcquire(
  call: LeaseCall,
  operations: LeaseOperations,
): Promise<LeaseAnswer> {
  if (call.method !== "POST") return wrongMethod(call.method);
  const wanted = wantedOf(call.url);
  if ("status" in wanted) return wanted;
  if (wanted.count === 0) return named([]);
  try {
    return named(await operations.acquire(wanted));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, reason } = failureOf(error);
    return text(status, `Failed to acquire lease "${wanted.type}": ${reason}`);
  }
}

/** In the order given; the first that fails ends it. */
export async function answerRelease(
  call: LeaseCall,
  operations: LeaseOperations,
): Promise<LeaseAnswer> {
  if (call.method !== "POST") return wrongMethod(call.method);
  const names = namesIn(call.body);
  if ("status" in names) return names;
  const released: string[] = [];
  const unknown: string[] = [];
  for (const name of names) {
    try {
      if (await operations.release(name)) released.push(name);
      else if (call.strict) return releaseFailed(name, `no resource name ${name}`, released);
      else unknown.push(name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return releaseFailed(name, error.message, released);
    }
  }
  const note = `not held, or no longer: ${unknown.join(" ")}`;
  return { status: 204, body: "", ...(unknown.length === 0 ? undefined : { note }) };
}

/** Clients accept headers of some kilobytes only, and a call can have thousands of names. */
const noteLengthMax = 400;

/** A note as the value of the header `Berth-Note`. */
export function formatNote(note: string): string {
  const text = note.length <= noteLengthMax ? note : `${note.slice(0, noteLengthMax)}…`;
  // The cut, or the client, may leave half a character, which cannot be encoded.
  return encodeURI(text.toWellFormed());
}

export const pageNotFound: LeaseAnswer = text(404, "404 page not found");

/** It is closing: there is nobody left to ask. */
export const noLeaseClient: LeaseAnswer = text(500, "Failed to get lease client");

export function isStrict(prefer: string | undefined): boolean {
  return prefer?.split(",").some((word) => word.trim() === "handling=strict") ?? false;
}

function text(status: number, line: string): LeaseAnswer {
  return { status, body: `${line}\n` };
}

function named(names: readonly string[]): LeaseAnswer {
  return { status: 200, body: JSON.stringify({ names }), json: true };
}

function wrongMethod(method: string): LeaseAnswer {
  return text(405, `Method ${method} not allowed, POST requests only.`);
}

function releaseFailed(name: string, why: string, released: readonly string[]): LeaseAnswer {
  return text(500, `Failed to release lease ${name}: ${why}\nReleased: ${released.join(",")}`);
}

function wantedOf(url: string): Wanted | LeaseAnswer {
  const start = url.indexOf("?");
  const query = new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
  const type = query.get("type") ?? "";
  if (type === "") return text(400, "type is required");
  const many = query.get("count") ?? "";
  const count = many === "" ? 1 : Number(many);
  if (!/^\d*$/.test(many) || !Number.isSafeInteger(count)) return invalid("count", many);
  const time = query.get("timeout") ?? "";
  const timeoutMs = time === "" ? undefined : parseDuration(time);
  if (time !== "" && timeoutMs === undefined) return invalid("timeout", time);
  return { type, count, timeoutMs };
}

function invalid(parameter: string, value: string): LeaseAnswer {
  return text(400, `parameter "${parameter}" is not valid: ${value}`);
}

function namesIn(body: string): readonly string[] | LeaseAnswer {
  const no = (why: string) => text(400, `unmarshal request body: ${why}`);
  if (body.trim() === "") return no("unexpected end of JSON input");
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (error) {
    return no(error instanceof Error ? error.message : String(error));
  }
  if (parsed === null) return [];
  if (typeof parsed !== "object" || Array.isArray(parsed)) return no("it is not an object");
  const names = "names" in parsed ? (parsed.names ?? []) : [];
  const isList = Array.isArray(names) && names.every((name) => typeof name === "string");
  return isList ? names : no("names is not a list of names");
}

/** Clients know two of the reasons by their words; all others are ours to word. */
function failureOf({ code, status, message }: Problem): { status: number; reason: string } {
  if (code === "pool_not_found") return { status, reason: "resource type not found" };
  if (code === notGrantedCode) return { status: 500, reason: "resources not found" };
  if (code === "none_free") return { status, reason: "resources not found" };
  return { status, reason: message };
}
