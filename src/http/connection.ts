/** What a client's connection means for the work done for it: closed, nobody reads the answer. */
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import type { LeaseView } from "../core/explain/view.ts";
import type { Context } from "./context.ts";

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
  { deliveries }: Context,
  leases: readonly LeaseView[],
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  deliveries.begin(leases);
  if (request.raw.socket.destroyed) return deliveries.end(leases, false);
  reply.raw.once("close", () => deliveries.end(leases, reply.raw.writableFinished));
}

export function canWait({ broker }: Context): boolean {
  return broker.openWaits < limits.openWaitsMax;
}

export function checkCanWait(context: Context, waitMs: number): void {
  if (waitMs === 0 || canWait(context)) return;
  throw new Problem({
    code: "too_many_waits",
    status: 503,
    message: `Cannot hold the connection open: ${limits.openWaitsMax} are already waiting`,
    hint: "Ask without wait and poll, or try again in a moment",
  });
}
