import type { WaitingRequest } from "../api/schemas.ts";
import { roughDuration } from "../core/model/duration.ts";

/** There was no answer: nobody listens there, the way is cut, or it took too long. */
export class BerthUnreachable extends Error {
  override readonly name = "BerthUnreachable";
  readonly url: string;
  readonly hint: string;

  constructor(url: string, state: string, cause?: unknown) {
    super(`Cannot reach the server at ${url}: ${state}`, { cause });
    this.url = url;
    this.hint = "Check the address, and that the server runs";
  }
}

/** The time to wait was over first. The request has left the queue. */
export class NotGranted extends Error {
  override readonly name = "NotGranted";
  readonly hint = "Wait longer, or ask for less";
  /** As it was last seen. */
  readonly request: WaitingRequest;

  constructor(request: WaitingRequest, waitedMs: number) {
    const { position, reason } = request;
    const state = `not granted within ${roughDuration(waitedMs)} (position ${position})`;
    super(`Cannot get the lease: ${state}. ${reason.message}`);
    this.request = request;
  }
}

export type LossCause = "ended" | "silence" | "lifetime";

/** Whatever the lease was for must stop now: somebody else may be using the same resources soon. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly hint = "Stop using its resources, then ask for a new lease";
  readonly leaseId: string;
  /** `ended`: the server said so. `silence`, `lifetime`: it may hand it on before long. */
  readonly why: LossCause;

  constructor(leaseId: string, why: LossCause, state: string, cause?: unknown) {
    super(`Cannot go on with lease ${leaseId}: ${state}`, { cause });
    this.leaseId = leaseId;
    this.why = why;
  }
}
