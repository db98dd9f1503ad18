/** How Boskos writes requests and replies, as Go does. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ClaimView, LeaseView } from "../../core/explain/view.ts";
import type { Refusal } from "../../core/model/outcome.ts";
import { describeUserDataFault } from "../../core/model/user-data.ts";
import { timestamp } from "../timestamp.ts";

/**
 * A query as Go reads it: the first value of a key counts, `+` is a space, and a pair that is badly
 * encoded or holds a semicolon is as good as absent.
 */
export class Query {
  readonly #values = new Map<string, string>();

  constructor(url: string) {
    const start = url.indexOf("?");
    if (start < 0) return;
    for (const pair of url.slice(start + 1).split("&")) this.#add(pair);
  }

  /** Absent and empty are the same. */
  get(key: string): string {
    return this.#values.get(key) ?? "";
  }

  #add(pair: string): void {
    if (pair === "" || pair.includes(";")) return;
    const equals = pair.indexOf("=");
    const key = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decoded(pair.slice(equals + 1));
    if (key === undefined || value === undefined || this.#values.has(key)) return;
    this.#values.set(key, value);
  }
}

/** To Go text is bytes: what is no UTF-8 is still a value. */
function decoded(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  if (/%(?![\da-f]{2})/i.test(text)) return undefined;
  const plain = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(plain);
  } catch {
    const parts = plain.split(/(%[\da-f]{2})/i);
    return Buffer.concat(parts.map(bytesOf)).toString();
  }
}

function bytesOf(part: string, index: number): Buffer {
  return index % 2 === 1 ? Buffer.from(part.slice(1), "hex") : Buffer.from(part);
}

/** A resource as Boskos shows it to the one that has just taken it. */
export function boskosResource(lease: LeaseView, claim: ClaimView): object {
  return {
    type: claim.pool,
    name: claim.resource,
    state: claim.state,
    owner: lease.holder,
    lastupdate: goTime(lease.seenAt),
    userdata: sorted(claim.userData),
    ...(claim.expiresAt === null ? undefined : { "expiration-date": goTime(claim.expiresAt) }),
  };
}

/** RFC 3339 without trailing zeros. */
function goTime(instant: Parameters<typeof timestamp>[0]): string {
  return timestamp(instant).replace(/\.?0*Z$/, "Z");
}

/** Keys in order, as Go writes maps. */
export function sorted<Value>(entries: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}

const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
};

/** JSON as Go writes it: safe to be put into a page. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&]/g, (character) => escapes[character] ?? character);
}

/** As Go's own error writer does: plain text that ends a line. Clients grep it. */
export function sendText(reply: FastifyReply, { status, text }: Failure): FastifyReply {
  return reply
    .code(status)
    .header("content-type", "text/plain; charset=utf-8")
    .header("x-content-type-options", "nosniff")
    .send(`${text}\n`);
}

/** Shell clients compare body and status, run together, with `200`. */
export function sendNothing(reply: FastifyReply): FastifyReply {
  return reply.code(200).header("content-length", "0").send();
}

/** The body as text; Boskos's calls may have any content type. */
export function bodyText({ body }: FastifyRequest): string {
  return typeof body === "string" ? body : "";
}

export function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.code(200).header("content-type", "application/json").send(json);
}

/** What Boskos says, word for word: clients look for these texts. */

export interface Failure {
  readonly status: number;
  readonly text: string;
}

/**
 * The reason for a refusal, without the prefix that each call puts before it. Never 500: clients
 * repeat a call that failed with 500, and the answer would stay the same.
 */
export function failureOf(refusal: Refusal): Failure {
  switch (refusal.code) {
    case "pool_not_found":
      return { status: 404, text: `resource type ${goQuote(refusal.pool)} does not exist` };
    case "not_all_free":
      return noneAvailable(refusal.state);
    case "resource_not_found":
      return noneAvailable(refusal.resource);
    case "not_its_holder":
      return { status: 401, text: `${currentOwner(refusal)}${reasonLost(refusal)}` };
    case "state_differs":
      // The words are the wrong way round, and clients have them so.
      return {
        status: 409,
        text: `state mismatch - expected ${refusal.state}, current ${refusal.claimed}`,
      };
    case "state_reserved":
      return {
        status: 400,
        text: `only the server puts a resource into the state ${goQuote(refusal.state)}`,
      };
    case "state_not_allowed":
      return {
        status: 400,
        text: `state ${goQuote(refusal.state)} is not allowed for ${refusal.pool}, only ${refusal.allowed.join(", ")}`,
      };
    case "priority_unknown":
      return { status: 400, text: `priority: there is no priority ${goQuote(refusal.name)}` };
    case "too_many_entries":
      return { status: 400, text: `it would have more than ${refusal.max} keys of user data` };
    case "user_data_refused":
      return { status: 400, text: describeUserDataFault(refusal.fault) };
    default:
      // Boskos has no amounts: to its clients a pool that is shared by amounts has no resource.
      if ("pool" in refusal) return noneAvailable(refusal.pool);
      return { status: 409, text: refusal.code.replaceAll("_", " ") };
  }
}

export function noneAvailable(what: string): Failure {
  return { status: 404, text: `no available resource ${what}, try again later.` };
}

type NotItsHolder = Extract<Refusal, { code: "not_its_holder" }>;

function currentOwner({ by, holder }: NotItsHolder): string {
  return `owner mismatch request by ${by}, currently owned by ${holder}`;
}

/** Beyond Boskos's own text: how the lease was lost, so that nobody has to guess. */
function reasonLost({ lost, needsToken }: NotItsHolder): string {
  if (needsToken) return " (a lease with a token; it is given back under /v1/leases)";
  if (lost === undefined) return "";
  const how = lost.how === "released" ? `released as ${lost.state}` : lost.how;
  return ` (your lease was ${how} at ${timestamp(lost.at)})`;
}

const named: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

/** Text in quotes with Go's escapes. */
export function goQuote(text: string): string {
  let quoted = "";
  for (const character of text) quoted += named[character] ?? escaped(character);
  return `"${quoted}"`;
}

function escaped(character: string): string {
  // To Go no space but the plain one can be printed.
  if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
