/**
 * What is lent to a job while it runs, on its own word: asked for, kept alive and given back here, so
 * that the job needs no process of its own for it. The lease proxy serves it over HTTP.
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
import { roughDuration } from "../../core/model/duration.ts";
import { asProblem } from "./as-problem.ts";
import { KeptLease } from "./kept-lease.ts";

export interface JobLeasesOptions {
  readonly client: BerthClient;
  readonly holder: string;
  /** What every request says beside its items. */
  readonly asking?: Partial<Pick<AskBody, "ttl" | "lifetime" | "priority" | "labels">>;
  /** How long one waits that does not say; two hours unless told. */
  readonly timeoutMs?: number | undefined;
  readonly connectMs?: number | undefined;
  /** How long giving back is tried; half a minute unless told. */
  readonly releaseMs?: number | undefined;
  /** One line for the job's log. */
  readonly note: (text: string) => void;
  /** Who is told how a wait goes. */
  readonly waiting?: () => Pick<AcquireOptions, "onWaiting" | "onTrouble"> & { end(): void };
  /** Who is told how heartbeats fare. */
  readonly keeping?: (lease: HeldLease) => KeepAliveOptions;
}

const timeoutMsDefault = 2 * 3_600_000;

/** The job has ended: nothing more is lent to it. */
export class JobEnded extends Error {
  override readonly name = "JobEnded";

  constructor() {
    super("The job has ended");
  }
}

export class JobLeases {
  readonly #options: JobLeasesOptions;
  readonly #kept = new Set<KeptLease>();
  readonly #ended = new AbortController();
  readonly #pending = new Set<Promise<unknown>>();

  constructor(options: JobLeasesOptions) {
    this.#options = options;
  }

  /** The names of all that is held, sorted. */
  get names(): string[] {
    return [...this.#kept].flatMap(({ names }) => names).sort();
  }

  /** The leases themselves, for those who have something to say about them. */
  get held(): HeldLease[] {
    return [...this.#kept].filter(({ names }) => names.length > 0).map(({ lease }) => lease);
  }

  /** Throws a Problem, the signal's reason, or `JobEnded`. */
  acquire(wanted: Wanted, signal?: AbortSignal): Promise<KeptLease> {
    const pending = this.#acquire(wanted, signal);
    this.#pending.add(pending);
    const over = () => void this.#pending.delete(pending);
    pending.then(over, over);
    return pending;
  }

  async #acquire({ type, count, timeoutMs }: Wanted, signal?: AbortSignal): Promise<KeptLease> {
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
          onTrouble: display?.onTrouble,
        },
      );
      return this.#keep(lease);
    } catch (error) {
      if (stop.signal.aborted && error === stop.signal.reason) throw error;
      throw asProblem(error);
    } finally {
      stop.letGo();
      display?.end();
    }
  }

  /** False: it is not held, or no longer. Throws a Problem; it can be tried again then. */
  async release(name: string): Promise<boolean> {
    const kept = [...this.#kept].find((each) => each.has(name));
    if (kept === undefined) return false;
    this.#options.note(`Releasing lease for ${poolOf(kept.lease)}: ${name}`);
    try {
      const outcome = await kept.release(name);
      if (kept.names.length === 0) this.#kept.delete(kept);
      return outcome === "released";
    } catch (error) {
      throw asProblem(error);
    }
  }

  /** Gives back all of a lease of which nobody was told. */
  async undo(kept: KeptLease): Promise<void> {
    this.#options.note(`Giving [${kept.names.join(" ")}] back: whoever asked for it is gone`);
    await kept.releaseAll().catch((error: unknown) => this.#cannotGiveBack(kept, error));
    this.#kept.delete(kept);
  }

  /** Those who wait leave, what is held is given back. */
  async close(signal?: AbortSignal): Promise<void> {
    this.#ended.abort(new JobEnded());
    await Promise.allSettled(this.#pending);
    const { names } = this;
    if (names.length > 0)
      this.#options.note(`Releasing what was leased meanwhile: [${names.join(" ")}]`);
    await Promise.all(
      [...this.#kept].map((kept) =>
        kept.releaseAll(signal).catch((error: unknown) => this.#cannotGiveBack(kept, error)),
      ),
    );
    this.#kept.clear();
  }

  #keep(lease: HeldLease): KeptLease {
    const { client, keeping, note, releaseMs } = this.#options;
    const onEnd = (over: KeptLease, how: "hold" | LeaseLost) => this.#over(over, how);
    const kept = new KeptLease(client, lease, { ...keeping?.(lease), releaseMs, onEnd });
    this.#kept.add(kept);
    const { names } = kept;
    note(`Acquired ${names.length} lease(s) for ${poolOf(lease)}: [${names.join(" ")}]`);
    return kept;
  }

  /** Nobody can be told but the log: the step that asked is busy with something else. */
  #over(kept: KeptLease, how: "hold" | LeaseLost): void {
    const { note } = this.#options;
    const names = `[${kept.names.join(" ")}]`;
    if (how === "hold") {
      note(`The server has taken ${names} back: its hold is over`);
    } else {
      note(`berth: LEASE LOST: ${names}. ${how.message}`);
      if (how.why !== "ended") return; // Perhaps it comes back; it is given back at the end.
      kept.forget();
    }
    this.#kept.delete(kept);
  }

  #cannotGiveBack(kept: KeptLease, error: unknown): void {
    const { names, leftMs } = kept;
    const why = error instanceof Error ? error.message : String(error);
    this.#options.note(`berth: Cannot give [${names.join(" ")}] back: ${why}`);
    this.#options.note(`  It will come back by itself in ${roughDuration(leftMs)} at the latest`);
    kept.forget();
  }
}

/** One is asked for at a time. */
function poolOf({ claims }: HeldLease): string {
  return claims[0]?.pool ?? "";
}
