/**
 * The client library, published as `berth/client`. It needs `fetch` and no package.
 *
 *     const berth = new BerthClient({ url: "http://127.0.0.1:8080" });
 *     await berth.withLease(
 *       { items: [{ pool: "aws-account" }], holder: "e2e-aws/1234" },
 *       async (lease) => runTests(lease.claims[0].resource, { signal: lease.signal }),
 *     );
 */
import { Problem } from "../api/problem.ts";
import type {
  AskBody,
  Lease,
  PageOf,
  Pool,
  RefreshBody,
  Resource,
  WaitingRequest,
} from "../api/schemas.ts";
import type { Space } from "../api/space-schemas.ts";
import {
  BerthCalls,
  type CallOptions,
  type ClientOptions,
  type Filter,
  type Held,
  type ResourceFilter,
} from "./calls.ts";
import { BerthUnreachable, LeaseLost, NotGranted } from "./errors.ts";
import { type FeedEvent, type FollowOptions, followEvents } from "./event-feed.ts";
import { KeepAlive, type KeepAliveOptions } from "./keep-alive.ts";
import { clientLimits } from "./limits.ts";
import { type AcquireOptions, type HeldLease, QueuedRequest } from "./queued-request.ts";
import { type ReleaseOptions, type ReleaseOutcome, releaseWithRetries } from "./release.ts";

export type BerthClientOptions = ClientOptions;

/** A lease with running heartbeats. */
export type LiveLease = HeldLease & {
  /** Aborts with a `LeaseLost` when you must stop using the resources. */
  readonly signal: AbortSignal;
};

export type WithLeaseOptions = AcquireOptions & KeepAliveOptions;

export class BerthClient extends BerthCalls {
  /**
   * Waits until the whole request is granted. Survives server restarts and lost responses. Throws a
   * `Problem` (refused), `NotGranted` (timeout), `BerthUnreachable`, or the signal's reason.
   */
  async acquire(ask: AskBody, options: AcquireOptions = {}): Promise<HeldLease> {
    options.signal?.throwIfAborted();
    for (let asks = 1; ; asks++) {
      const requestId = ask.requestId ?? crypto.randomUUID();
      try {
        const send = (how?: CallOptions) => this.ask({ ...ask, requestId }, how);
        return await new QueuedRequest(this, send, options).untilGranted();
      } catch (error) {
        const again = ask.requestId === undefined && wasForgotten(error);
        if (!again || asks >= clientLimits.asksMax) throw error;
      }
    }
  }

  /**
   * Releases the lease and waits until the same is granted again. Retries and throws like `acquire`.
   * The old lease ends with the first call, even if the wait fails.
   */
  async refresh(
    held: Held,
    body: RefreshBody = {},
    options: AcquireOptions = {},
  ): Promise<HeldLease> {
    options.signal?.throwIfAborted();
    const { requestId = crypto.randomUUID(), ...rest } = body;
    const send = (how?: CallOptions) => this.askAgain(held, { ...rest, requestId }, how);
    return new QueuedRequest(this, send, options).untilGranted();
  }

  /** Releases the lease. Retries until it is released or known to have ended. Safe to repeat. */
  release(held: Held, options?: ReleaseOptions): Promise<ReleaseOutcome> {
    return releaseWithRetries(this, held, options);
  }

  /** Sends heartbeats until you call `stop`. */
  keepAlive(lease: HeldLease, options?: KeepAliveOptions): KeepAlive {
    return new KeepAlive(this, lease, options);
  }

  /**
   * Acquires a lease, sends heartbeats while `work` runs, and releases the lease in any case. Throws
   * `LeaseLost` if the lease was lost meanwhile, unless `work` itself threw.
   */
  async withLease<T>(
    ask: AskBody,
    work: (lease: LiveLease) => Promise<T>,
    options: WithLeaseOptions = {},
  ): Promise<T> {
    const lease = await this.acquire(ask, options);
    const keepAlive = this.keepAlive(lease, options);
    let outcome: Promise<ReleaseOutcome | undefined> | undefined;
    const release = () => {
      keepAlive.stop();
      // If the release fails, the lease expires after its ttl. The result of `work` matters more.
      outcome ??= this.release(lease).catch(() => undefined);
      return outcome;
    };
    try {
      await keepAlive.confirmed;
      keepAlive.signal.throwIfAborted();
      const result = await work({ ...lease, signal: keepAlive.signal });
      keepAlive.signal.throwIfAborted();
      if ((await release()) === "gone") {
        throw new LeaseLost(lease.id, "ended", "it had ended before it was released");
      }
      return result;
    } finally {
      await release();
    }
  }

  events(options: FollowOptions = {}): AsyncGenerator<FeedEvent, void, undefined> {
    return followEvents(this.transport, options);
  }

  /** Reads all pages of the listing, like the next three methods. */
  everyPool(options?: CallOptions): Promise<Pool[]> {
    return everyPage((page) => this.pools(page, options));
  }

  everySpace(options?: CallOptions): Promise<Space[]> {
    return everyPage((page) => this.spaces(page, options));
  }

  everyLease(filter?: Filter, options?: CallOptions): Promise<Lease[]> {
    return everyPage((page) => this.leases({ ...filter, ...page }, options));
  }

  everyRequest(filter?: Filter, options?: CallOptions): Promise<WaitingRequest[]> {
    return everyPage((page) => this.requests({ ...filter, ...page }, options));
  }

  everyResource(filter?: ResourceFilter, options?: CallOptions): Promise<Resource[]> {
    return everyPage((page) => this.resources({ ...filter, ...page }, options));
  }
}

const pageSize = 1_000;

async function everyPage<T>(
  read: (page: { limit: number; after?: string }) => Promise<PageOf<T>>,
): Promise<T[]> {
  const all: T[] = [];
  for (
    let after: string | null | undefined;
    after !== null && all.length < clientLimits.listedMax;
  ) {
    const page = await read({ limit: pageSize, ...(after === undefined ? undefined : { after }) });
    all.push(...page.items);
    after = page.next;
  }
  return all;
}

/** The server ended the request while we had no contact. It can be sent again with a new id. */
function wasForgotten(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code !== "request_ended") return false;
  return ["abandoned", "disconnected", "expired"].includes(String(error.facts["how"]));
}

export type { AcquireOptions, HeldLease, KeepAliveOptions };
export { BerthUnreachable, LeaseLost, NotGranted, Problem };
