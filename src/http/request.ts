/** What routes read of an HTTP request: common fields, its connection, and who sends it. */
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";
import { limits } from "../api/limits.ts";
import { hostnameOfUrl, isLoopbackAddress, isLoopbackName } from "../api/loopback.ts";
import { Problem } from "../api/problem.ts";
import type { Principal } from "../auth/principal.ts";
import type { Tokens } from "../broker/lease-identity.ts";
import type { LeaseView } from "../core/explain/view.ts";
import type { Reason } from "../core/model/command.ts";
import type { RequestId, SpaceName } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";
import { formatDuration, hasRealDate, parseDuration } from "../core/model/time.ts";
import type { Context } from "./context.ts";
import { invalid } from "./problems.ts";
import { callerAddress } from "./proxies.ts";
import { deliveryHeader } from "./relay/relayed-deliveries.ts";
import { spaceOf } from "./sight.ts";

/** Fields that several calls read in the same way. */

export const IdParams = Type.Object({ id: Type.String({ maxLength: limits.nameLengthMax }) });
export const NameParams = Type.Object({ name: Type.String({ maxLength: limits.nameLengthMax }) });

/** Who acts on behalf of others, and why. The event records it. */
export const auditFields = {
  by: Type.Optional(
    Type.String({
      maxLength: limits.holderLengthMax,
      description: "Who does it, if not the holder",
    }),
  ),
  reason: Type.Optional(Type.String({ maxLength: 1_024, description: "Why, for people to read" })),
};

/** A caller that has proved who it is cannot act under another name, only add one. */
export function auditReason(
  { principal }: Pick<FastifyRequest, "principal">,
  given: { readonly by: string | undefined; readonly reason: string | undefined },
): Reason {
  const proven = principal === null || principal.proof === "none" ? undefined : principal.name;
  const why = given.reason ?? "";
  if (proven === undefined) return { by: given.by ?? "operator", why };
  const isOther = given.by !== undefined && given.by !== proven;
  return { by: proven, why, ...(isOther ? { as: given.by } : undefined) };
}

export interface DurationRange {
  readonly minMs: number;
  readonly maxMs: number;
}

/** A duration whose form the schema has checked; here its size is. */
export function durationIn(place: string, text: string, { minMs, maxMs }: DurationRange): number {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs >= minMs && durationMs <= maxMs) return durationMs;
  const range = `between ${formatDuration(minMs)} and ${formatDuration(maxMs)}`;
  throw invalid(place, `"${text}" is out of range`, `Give a duration ${range}`);
}

export function momentText(description: string): string {
  return `${description}: RFC 3339, or a duration that has passed since, such as 2h`;
}

/** A time, or how long ago it was. */
export function momentIn(place: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const agoMs = parseDuration(text);
  const at = agoMs === undefined ? Date.parse(text) : now - agoMs;
  if (!Number.isNaN(at) && (agoMs !== undefined || hasRealDate(text))) return at;
  throw invalid(
    place,
    `"${text.slice(0, 40)}" is not a time`,
    "Write 2026-01-31T12:00:00Z, or how long ago, such as 2h",
  );
}

/** For how long the connection may be held open; 0 unless given. */
export function waitIn(place: string, wait: string | undefined): number {
  if (wait === undefined) return 0;
  return durationIn(place, wait, { minMs: 0, maxMs: limits.waitMsMax });
}

/** If the connection of a client is closed, nobody reads the answer, and work for it can stop. */

/** The connection of a request that may have to wait. Dispose of it when the answer is known. */
export class Connection implements Disposable {
  // The socket, not the reply: one that is pipelined behind another has no connection of its own yet.
  readonly #socket: FastifyRequest["raw"]["socket"];
  readonly #closed = () => this.#controller?.abort();
  #controller: AbortController | undefined;

  constructor({ raw }: FastifyRequest) {
    this.#socket = raw.socket;
  }

  /** Aborts when the connection closes. Made on first use: most requests need not wait. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.#socket.once("close", this.#closed);
      if (this.#socket.destroyed) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    if (this.#controller !== undefined) this.#socket.removeListener("close", this.#closed);
  }
}

/** Aborts if the connection closes before the answer is written, or has closed already. */
export function abortOnClose(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const closed = () => {
    if (!response.writableEnded) controller.abort();
  };
  if (response.closed) closed();
  else response.once("close", closed);
  return controller.signal;
}

/** Tracks whether the reply that grants leases arrives: if it does not, nobody knows of them. */
export function trackDelivery(
  { deliveries, peers }: Context,
  leases: readonly LeaseView[],
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  deliveries.begin(leases);
  if (request.raw.socket.destroyed) return deliveries.end(leases, false);
  const { raw } = reply;
  const { deliveryId: id } = request;
  if (id === null || peers === undefined) {
    raw.once("close", () => deliveries.end(leases, raw.writableFinished));
    return;
  }
  peers.deliveries.expect(id, (arrived) => deliveries.end(leases, arrived));
  reply.header(deliveryHeader, "awaited");
  raw.once("close", () => {
    if (!raw.writableFinished) peers.deliveries.word({ id, arrived: false });
  });
}

type WaitingSpace = SpaceName | undefined;

/** One space has at most half of the waits, so that others find some. Undefined: there are no spaces. */
export function canWait({ broker }: Context, space: WaitingSpace): boolean {
  const isWithinShare = space === undefined || broker.openWaitsOf(space) < limits.waitsPerSpaceMax;
  return isWithinShare && broker.openWaits < limits.openWaitsMax;
}

/** A part of the waits stays for those who wait in a queue: of a space half of its share. */
export function checkCanWatch({ broker }: Context, space: WaitingSpace): void {
  const own = space === undefined ? 0 : broker.openWaitsOf(space);
  const max = space === undefined ? limits.openWaitsMax / 2 : (limits.openWaitsMax * 3) / 4;
  if (own >= limits.waitsPerSpaceMax / 2 || broker.openWaits >= max) throw tooManyWaits();
}

export function checkCanWait(context: Context, waitMs: number, space: WaitingSpace): void {
  if (waitMs > 0 && !canWait(context, space)) throw tooManyWaits();
}

/** The space of who calls: with the token of a request or lease, the space of that. */
export function callingSpace(
  { principal }: Pick<FastifyRequest, "principal">,
  state: State,
  id: RequestId,
): WaitingSpace {
  return principal === null ? spaceOf(state, id) : principal.space;
}

function tooManyWaits(): Problem {
  return new Problem({
    code: "too_many_waits",
    status: 503,
    message: "Cannot hold the connection open: too many calls are already waiting",
    hint: "Ask without wait and poll, or try again in a moment",
  });
}

/** Who is asking: the holder, who shows the lease's token, or an operator on this machine. */

function bearer(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization;
  return header === undefined ? undefined : /^Bearer +(\S+)$/i.exec(header)?.[1];
}

export function isHolder(tokens: Tokens, id: RequestId, request: FastifyRequest): boolean {
  const token = bearer(request);
  return token !== undefined && tokens.proves(id, token);
}

export function mustBeHolder(tokens: Tokens, id: RequestId, request: FastifyRequest): void {
  const token = bearer(request);
  if (token === undefined) {
    throw new Problem({
      code: "token_missing",
      status: 401,
      message: `Cannot act for the holder of ${id}: no token was sent`,
      hint: "Send the token from the reply to POST /v1/leases as Authorization: Bearer TOKEN",
    });
  }
  if (!tokens.proves(id, token)) {
    throw new Problem({
      code: "token_wrong",
      status: 403,
      message: `Cannot act for the holder of ${id}: the token belongs to another lease`,
      hint: "Use the token from the reply that granted this lease",
    });
  }
}

/** Whom a call comes from while the server has no authentication. */
export function localPrincipal(request: FastifyRequest): Principal {
  return operatorProblem(request) === undefined ? thisMachine : otherMachine;
}

const thisMachine: Principal = { name: "operator", role: "admin", proof: "none" };
const otherMachine: Principal = { name: "operator", role: "worker", proof: "none" };

/**
 * Without authentication, what affects others is for this machine only. A browser on this
 * machine also acts for whatever site it shows, and any site may give its name this address: so what
 * comes from a page must come from one that was opened under an address of this machine.
 */
export function operatorProblem(
  request: FastifyRequest,
  page: string | undefined = request.headers.origin,
): Problem | undefined {
  const from = callerAddress(request);
  if (!isLoopbackAddress(from)) return operatorsOnly(from, elsewhereHint);
  if (page === undefined) return undefined;
  const name = hostnameOfUrl(page) ?? "elsewhere";
  return isLoopbackName(name)
    ? undefined
    : operatorsOnly(`the page at ${name}`, "Open the page as localhost");
}

const elsewhereHint =
  "Run this on the machine of the server, and not through a proxy that --trust-proxy names; or configure auth, and use " +
  "a token with the role operator";

function operatorsOnly(from: string, hint: string): Problem {
  return new Problem({
    code: "operators_only",
    status: 403,
    message: `Cannot act on behalf of others from ${from}`,
    hint,
  });
}
