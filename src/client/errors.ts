import type { WaitingRequest } from "../api/schemas.ts";
import { roughDuration } from "../core/model/time.ts";

/** The server did not respond: connection refused, network error or timeout. */
export class BerthUnreachable extends Error {
  override readonly name = "BerthUnreachable";
  readonly url: string;
  readonly hint: string;

  constructor(url: string, state: string, cause?: unknown) {
    super(`Cannot reach the server at ${url}: ${state}`, { cause });
    this.url = url;
    this.hint = "Check the address, and that the server is running";
  }
}

/** The request was not granted before the timeout. It has left the queue. */
export class NotGranted extends Error {
  override readonly name = "NotGranted";
  readonly hint = "Wait longer, or request less";
  /** Its last known state. */
  readonly request: WaitingRequest;

  constructor(request: WaitingRequest, waitedMs: number) {
    const { position, reason } = request;
    const state = `not granted within ${roughDuration(waitedMs)} (position ${position})`;
    super(`Cannot get the lease: ${state}. ${reason.message}`);
    this.request = request;
  }
}

export type LossCause = "ended" | "noContact" | "lifetime";

/** The holder must stop using the resources now: another holder may get them soon. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly hint = "Stop using its resources, then request a new lease";
  readonly leaseId: string;
  /**
   * `ended`: the server has ended the lease. `noContact`: heartbeats failed for nearly a ttl.
   * `lifetime`: the lease reaches its maximum lifetime.
   */
  readonly why: LossCause;

  constructor(leaseId: string, why: LossCause, state: string, cause?: unknown) {
    super(`Cannot keep lease ${leaseId}: ${state}`, { cause });
    this.leaseId = leaseId;
    this.why = why;
  }
}
