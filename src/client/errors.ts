import type { WaitingRequest } from "../api/schemas.ts";
import { roughDuration } from "../core/model/time.ts";

/** Why a client does not accept the certificate of the server. */
export type CertificateProblem = "untrusted" | "expired" | "not-yet-valid" | "wrong-name";

const hintByProblem: Readonly<Record<CertificateProblem, string>> = {
  untrusted: "Set NODE_EXTRA_CA_CERTS to the file of the authority, or pass a fetch that trusts it",
  expired: "Renew the certificate of the server, and check the clock of this machine",
  "not-yet-valid": "Check the clock of this machine",
  "wrong-name": "Call the server by a name that its certificate has",
};

interface UnreachableFacts {
  readonly certificate?: CertificateProblem | undefined;
  readonly wasSent?: boolean;
}

/** The server did not respond: connection refused, network error or timeout. */
export class BerthUnreachable extends Error {
  override readonly name = "BerthUnreachable";
  readonly url: string;
  readonly hint: string;
  /** Undefined: the certificate of the server is not the reason. */
  readonly certificate: CertificateProblem | undefined;
  /** False if there was no connection. Otherwise the server may have done what was asked. */
  readonly wasSent: boolean;

  constructor(
    url: string,
    state: string,
    cause?: unknown,
    { certificate, wasSent = true }: UnreachableFacts = {},
  ) {
    super(`Cannot reach the server at ${url}: ${state}`, { cause });
    this.url = url;
    this.certificate = certificate;
    this.wasSent = wasSent;
    const isRunning = "Check the address, and that the server is running";
    this.hint = certificate === undefined ? isRunning : hintByProblem[certificate];
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
