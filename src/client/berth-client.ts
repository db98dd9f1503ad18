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
import {
  BerthCalls,
  type CallOptions,
  type Filter,
  type Held,
  type ResourceFilter,
} from "./calls.ts";
import { BerthUnreachable, LeaseLost, NotGranted } from "./errors.ts";
import { type FeedEvent, type FollowOptions, followEvents } from "./event-feed.ts";
import { KeepAlive, type KeepAliveOptions } from "./keep-alive.ts";
import { clientLimits } from "./limits.ts";
import { type AcquireOptions, type HeldLease, PlaceInLine } from "./place-in-line.ts";
import { giveBackSurely, type ReleaseOptions, type ReleaseOutcome } from "./release.ts";

export interface BerthClientOptions {
  /** Such as `http://127.0.0.1:8080`; a path before `/v1` is kept. */
  readonly url: string;
  readonly fetch?: typeof fetch;
}

/** A lease that is being kept alive. */
export type LiveLease = HeldLease & {
  /** Aborts, with a `LeaseLost`, when the resources must not be used any longer. */
  readonly signal: AbortSignal;
};

export type WithLeaseOptions = AcquireOptions & KeepAliveOptions;

export class BerthClient extends BerthCalls {
  /**
   * Waits until all of it is granted, through restarts of the server and lost answers.
   * Throws a `Problem` (refused), `NotGranted` (timeout), `BerthUnreachable`, or the signal's reason.
   */
  async acquire(ask: AskBody, options: AcquireOptions = {}): Promise<HeldLease> {
    options.signal?.throwIfAborted();
    for (let asks = 1; ; asks++) {
      const requestId = ask.requestId ?? crypto.randomUUID();
      try {
        const asking = (how?: CallOptions) => this.ask({ ...ask, requestId }, how);
        return await new PlaceInLine(this, asking, options).untilGranted();
      } catch (error) {
        const again = ask.requestId === undefined && wasForgotten(error);
        if (!again || asks >= clientLimits.asksMax) throw error;
      }
    }
  }

  /**
   * Gives back and waits until the same is granted again, as patiently as `acquire`; throws as that
   * does. From the first call on what was held is gone, also where the wait is given up.
   */
  async refresh(
    held: Held,
    body: RefreshBody = {},
    options: AcquireOptions = {},
  ): Promise<HeldLease> {
    options.signal?.throwIfAborted();
    const { requestId = crypto.randomUUID(), ...rest } = body;
    const asking = (how?: CallOptions) => this.askAgain(held, { ...rest, requestId }, how);
    return new PlaceInLine(this, asking, options).untilGranted();
  }

  /** Gives it back: tries until it is done or known to be gone. Safe to repeat. */
  release(held: Held, options?: ReleaseOptions): Promise<ReleaseOutcome> {
    return giveBackSurely(this, held, options);
  }

  /** Heartbeats from now on, until you call `stop`. */
  keepAlive(lease: HeldLease, options?: KeepAliveOptions): KeepAlive {
    return new KeepAlive(this, lease, options);
  }

  /**
   * Acquires, keeps alive while `work` runs, and gives back however it ends. Throws `LeaseLost`
   * when the lease was lost on the way, unless `work` itself threw.
   */
  async withLease<T>(
    ask: AskBody,
    work: (lease: LiveLease) => Promise<T>,
    options: WithLeaseOptions = {},
  ): Promise<T> {
    const lease = await this.acquire(ask, options);
    const alive = this.keepAlive(lease, options);
    try {
      await alive.confirmed;
      alive.signal.throwIfAborted();
      const result = await work({ ...lease, signal: alive.signal });
      alive.signal.throwIfAborted();
      return result;
    } finally {
      alive.stop();
      // Where even this fails the ttl gives it back, and what `work` has to say matters more.
      await this.release(lease).catch(() => {});
    }
  }

  events(options: FollowOptions = {}): AsyncGenerator<FeedEvent, void, undefined> {
    return followEvents(this.transport, options);
  }

  /** All pages of the listing, as are the next three. */
  everyPool(options?: CallOptions): Promise<Pool[]> {
    return everyPage((page) => this.pools(page, options));
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

/** Ended while nobody listened (a laptop slept, the network was away): a new id asks anew. */
function wasForgotten(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code !== "request_ended") return false;
  return ["abandoned", "disconnected", "expired"].includes(String(error.facts["how"]));
}

export type { AcquireOptions, HeldLease, KeepAliveOptions };
export { BerthUnreachable, LeaseLost, NotGranted, Problem };
