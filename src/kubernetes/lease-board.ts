import { pause, pauseMs } from "../client/pause.ts";
import { byVersion, type LeaseObject } from "./kube-objects.ts";
import type { LeaseStore } from "./lease-store.ts";
import { type LeaseChange, watchLeases } from "./watch-leases.ts";

/**
 * What an observer knows about the current version of a Lease, in the time of the server's clock.
 */
export interface Sight {
  /** The Lease has had this version since this time or earlier. */
  readonly sinceMs: number;
  /**
   * The observer saw the change to this version, so the holder was alive then, whatever its clock
   * says.
   */
  readonly changed: boolean;
}

/** All Leases of the namespace at one moment, as one observer sees them. */
export interface View {
  readonly leases: readonly LeaseObject[];
  /** A lower bound for the current time of the server's clock. */
  readonly nowMs: number;
  readonly sightOf?: ((lease: LeaseObject) => Sight | undefined) | undefined;
}

/**
 * All Leases of a namespace, read once and then updated by a watch. After a watch ends, the board
 * lists everything again before it opens a new watch, so no change is missed.
 */
export class LeaseBoard implements AsyncDisposable {
  readonly #store: LeaseStore;
  readonly #closed = new AbortController();
  readonly #onRetry: (error: Error) => void;
  readonly #leases = new Map<string, LeaseObject>();
  readonly #sights = new Map<string, Sight>();
  /** The version of the last list. Changes from the watch that are older are ignored. */
  #readVersion: string | undefined;
  /** For each list in progress, the changes that the watch has received meanwhile. */
  readonly #reads = new Set<Set<LeaseChange>>();
  #next = Promise.withResolvers<void>();
  #running: Promise<void> = Promise.resolve();

  private constructor(store: LeaseStore, onRetry: (error: Error) => void) {
    this.#store = store;
    this.#onRetry = onRetry;
  }

  /** Throws if the first list fails. Later errors go to `onRetry`, and the board tries again. */
  static async open(
    store: LeaseStore,
    { signal, onRetry = () => {} }: { signal?: AbortSignal; onRetry?: (error: Error) => void },
  ): Promise<LeaseBoard> {
    const board = new LeaseBoard(store, onRetry);
    const version = await board.#read(signal);
    board.#running = board.#follow(version);
    return board;
  }

  get view(): View {
    return {
      leases: [...this.#leases.values()],
      nowMs: this.#store.api.clock.atLeastMs(),
      sightOf: ({ metadata }) => this.#sights.get(metadata.name),
    };
  }

  /** The current object; undefined if there is none. */
  get(name: string): LeaseObject | undefined {
    return this.#leases.get(name);
  }

  /** Iterates without a copy, for callers that read many Leases often. */
  all(): Iterable<LeaseObject> {
    return this.#leases.values();
  }

  /**
   * Resolves with the next change. Get this promise before you read, or a change in between is
   * lost.
   */
  get changed(): Promise<void> {
    return this.#next.promise;
  }

  /** Lists everything again, for decisions that must not depend on a watch that may be late. */
  async refresh(signal?: AbortSignal): Promise<void> {
    await this.#read(signal);
  }

  /** Adds the result of our own write. The watch will report it again. */
  note(lease: LeaseObject): void {
    this.#saw(lease);
  }

  forget(name: string): void {
    this.#leases.delete(name);
    this.#sights.delete(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  /**
   * Changes that the watch reported after the list started are newer than the list, so they stay.
   */
  async #read(signal: AbortSignal = this.#closed.signal): Promise<string | undefined> {
    const newer = new Set<LeaseChange>();
    this.#reads.add(newer);
    try {
      const { items, metadata } = await this.#store.list({ signal });
      const names = new Set(items.map((lease) => lease.metadata.name));
      for (const name of this.#leases.keys()) if (!names.has(name)) this.forget(name);
      for (const lease of items) this.#saw(lease);
      this.#readVersion = metadata.resourceVersion;
      for (const change of newer) this.#hear(change);
      this.#tell();
      return metadata.resourceVersion;
    } finally {
      this.#reads.delete(newer);
    }
  }

  async #follow(from: string | undefined): Promise<void> {
    const { signal } = this.#closed;
    let version = from;
    for (let failures = 0; !signal.aborted; ) {
      try {
        version ??= await this.#read();
        for await (const change of watchLeases(this.#store, { version, signal })) {
          failures = 0;
          for (const read of this.#reads) read.add(change);
          this.#hear(change);
          this.#tell();
        }
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        this.#onRetry(error instanceof Error ? error : new Error(String(error)));
      }
      version = undefined;
      // The pause also follows a normal end: after a restart of the server, all clients reconnect,
      // and not at the same moment.
      await pause(pauseMs(failures), signal).catch(() => {});
    }
  }

  #hear({ type, object }: LeaseChange): void {
    if (this.#isOldNews(object)) return;
    if (type === "DELETED") this.forget(object.metadata.name);
    else this.#saw(object);
  }

  /**
   * A watch may be behind a list or our own write. An older version from it must not replace a
   * newer one.
   */
  #isOldNews({ metadata }: LeaseObject): boolean {
    const known = this.#leases.get(metadata.name)?.metadata.resourceVersion;
    return [known, this.#readVersion].some((version) => {
      const order = byVersion(metadata.resourceVersion, version);
      return order !== undefined && order < 0;
    });
  }

  #saw(lease: LeaseObject): void {
    const { name, resourceVersion } = lease.metadata;
    const known = this.#leases.get(name);
    this.#leases.set(name, lease);
    if (known?.metadata.resourceVersion === resourceVersion) return;
    const sinceMs = this.#store.api.clock.atMostMs();
    this.#sights.set(name, { sinceMs, changed: known?.metadata.uid === lease.metadata.uid });
  }

  #tell(): void {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    resolve();
  }
}
