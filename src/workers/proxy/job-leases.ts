/**
 * The leases that a job acquires while it runs. This process acquires them, sends their heartbeats
 * and releases them, so the job needs no process of its own for that. The lease proxy serves them
 * over HTTP.
 */
import type { Wanted } from "../../api/lease-proxy.ts";
import type { AskBody } from "../../api/schemas.ts";
import type {
  AcquireOptions,
  BerthClient,
  HeldLease,
  KeepAliveOptions,
  LeaseLost,
} from "../../client/berth-client.ts";
import { LinkedAbort } from "../../client/linked-abort.ts";
import { roughDuration } from "../../core/model/time.ts";
import { asProblem } from "./as-problem.ts";
import { JobLease } from "./job-lease.ts";

export interface JobLeasesOptions {
  readonly client: BerthClient;
  readonly holder: string;
  /** The fields of every request besides its items. */
  readonly asking?: Partial<Pick<AskBody, "ttl" | "lifetime" | "priority" | "labels">>;
  /** How long a request without a timeout of its own waits; two hours by default. */
  readonly timeoutMs?: number | undefined;
  readonly connectMs?: number | undefined;
  /** How long a release is retried; half a minute by default. */
  readonly releaseMs?: number | undefined;
  /** Writes one line to the log of the job. */
  readonly note: (text: string) => void;
  /** Callbacks for the progress of a wait. */
  readonly waiting?: () => Pick<AcquireOptions, "onWaiting" | "onRetry"> & { end(): void };
  /** Callbacks for the heartbeats of a lease. */
  readonly keeping?: (lease: HeldLease) => KeepAliveOptions;
}

const timeoutMsDefault = 2 * 3_600_000;

/** The job has ended, so it can acquire no more leases. */
export class JobEnded extends Error {
  override readonly name = "JobEnded";

  constructor() {
    super("The job has ended");
  }
}

export class JobLeases {
  readonly #options: JobLeasesOptions;
  readonly #jobLeases = new Set<JobLease>();
  readonly #ended = new AbortController();
  readonly #pending = new Set<Promise<unknown>>();

  constructor(options: JobLeasesOptions) {
    this.#options = options;
  }

  /** The names of all held resources, sorted. */
  get names(): string[] {
    return [...this.#jobLeases].flatMap(({ names }) => names).sort();
  }

  /** The leases that still hold a resource. */
  get held(): HeldLease[] {
    return [...this.#jobLeases].filter(({ names }) => names.length > 0).map(({ lease }) => lease);
  }

  /** Throws a Problem, the abort reason, or `JobEnded`. */
  acquire(wanted: Wanted, signal?: AbortSignal): Promise<JobLease> {
    const pending = this.#acquire(wanted, signal);
    this.#pending.add(pending);
    const over = () => void this.#pending.delete(pending);
    pending.then(over, over);
    return pending;
  }

  async #acquire({ type, count, timeoutMs }: Wanted, signal?: AbortSignal): Promise<JobLease> {
    const { client, holder, asking, connectMs, note } = this.#options;
    const stop = new LinkedAbort(this.#ended.signal, signal);
    if (timeoutMs !== 0) note(`Acquiring ${count} lease(s) for ${type}`);
    const display = this.#options.waiting?.();
    try {
      const lease = await client.acquire(
        {
          ...asking,
          items: [{ pool: type, count }],
          holder,
          ...(timeoutMs === 0 ? { nowOnly: true } : undefined),
        },
        {
          signal: stop.signal,
          connectMs,
          timeoutMs: timeoutMs || (this.#options.timeoutMs ?? timeoutMsDefault),
          onWaiting: display?.onWaiting,
          onRetry: display?.onRetry,
        },
      );
      return this.#keep(lease);
    } catch (error) {
      if (stop.signal.aborted && error === stop.signal.reason) throw error;
      throw asProblem(error);
    } finally {
      stop.unlink();
      display?.end();
    }
  }

  /** Returns false if the resource is not held. Throws a Problem; the caller may then try again. */
  async release(name: string): Promise<boolean> {
    const jobLease = [...this.#jobLeases].find((each) => each.has(name));
    if (jobLease === undefined) return false;
    this.#options.note(`Releasing lease for ${poolOf(jobLease.lease)}: ${name}`);
    try {
      const outcome = await jobLease.release(name);
      if (jobLease.names.length === 0) this.#jobLeases.delete(jobLease);
      return outcome === "released";
    } catch (error) {
      throw asProblem(error);
    }
  }

  /** Releases a lease whose client was gone before it got the answer. */
  async undo(jobLease: JobLease): Promise<void> {
    this.#options.note(`Releasing [${jobLease.names.join(" ")}]: the client has disconnected`);
    await jobLease
      .releaseAll()
      .catch((error: unknown) => this.#noteReleaseFailure(jobLease, error));
    this.#jobLeases.delete(jobLease);
  }

  /** Cancels the waiting requests and releases all leases. */
  async close(signal?: AbortSignal): Promise<void> {
    this.#ended.abort(new JobEnded());
    await Promise.allSettled(this.#pending);
    const { names } = this;
    if (names.length > 0)
      this.#options.note(`Releasing the leases of the job: [${names.join(" ")}]`);
    await Promise.all(
      [...this.#jobLeases].map((jobLease) =>
        jobLease
          .releaseAll(signal)
          .catch((error: unknown) => this.#noteReleaseFailure(jobLease, error)),
      ),
    );
    this.#jobLeases.clear();
  }

  #keep(lease: HeldLease): JobLease {
    const { client, keeping, note, releaseMs } = this.#options;
    const onEnd = (over: JobLease, how: "hold" | LeaseLost) => this.#noteEnd(over, how);
    const jobLease = new JobLease(client, lease, { ...keeping?.(lease), releaseMs, onEnd });
    this.#jobLeases.add(jobLease);
    const { names } = jobLease;
    note(`Acquired ${names.length} lease(s) for ${poolOf(lease)}: [${names.join(" ")}]`);
    return jobLease;
  }

  /** Logs the loss. The step that acquired the lease is busy and cannot be notified. */
  #noteEnd(jobLease: JobLease, how: "hold" | LeaseLost): void {
    const { note } = this.#options;
    const names = `[${jobLease.names.join(" ")}]`;
    if (how === "hold") {
      note(`The server has released ${names}: its maximum hold time is over`);
    } else {
      note(`berth: LEASE LOST: ${names}. ${how.message}`);
      // The server may be reachable again later, so close() still releases it.
      if (how.why !== "ended") return;
      jobLease.forget();
    }
    this.#jobLeases.delete(jobLease);
  }

  #noteReleaseFailure(jobLease: JobLease, error: unknown): void {
    const { names, leftMs } = jobLease;
    const why = error instanceof Error ? error.message : String(error);
    this.#options.note(`berth: Cannot release [${names.join(" ")}]: ${why}`);
    this.#options.note(
      `  It expires by itself in ${roughDuration(leftMs)}, or a whole ttl after the server restarts`,
    );
    jobLease.forget();
  }
}

/** Each lease is for one pool. */
function poolOf({ claims }: HeldLease): string {
  return claims[0]?.pool ?? "";
}
