import { pause, pauseMs } from "../client/pause.ts";
import { byVersion, type LeaseObject } from "./kube-objects.ts";
import type { LeaseStore } from "./lease-store.ts";
import { type LeaseChange, watchLeases } from "./watch-leases.ts";

/** What an observer has seen of a Lease in its present version, by the server's clock. */
export interface Sight {
  /** It has been like this since then at the latest. */
  readonly sinceMs: number;
  /** The observer saw it change to this, so its holder was alive then, whatever its clock says. */
  readonly changed: boolean;
}

/** All Leases of the namespace at one moment, as one observer sees them. */
export interface View {
  readonly leases: readonly LeaseObject[];
  /** By the server's clock: it is not earlier than this. */
  readonly nowMs: number;
  readonly sightOf?: ((lease: LeaseObject) => Sight | undefined) | undefined;
}

/**
 * All Leases of a namespace as they are now: read once, then kept up to date by a watch. A watch that
 * ends is opened again after a fresh look, so that nothing is missed however it ended.
 */
export class LeaseBoard implements AsyncDisposable {
  readonly #store: LeaseStore;
  readonly #closed = new AbortController();
  readonly #onTrouble: (error: Error) => void;
  readonly #leases = new Map<string, LeaseObject>();
  readonly #sights = new Map<string, Sight>();
  /** Of the last look: what a watch tells of before that is old news. */
  #readVersion: string | undefined;
  /** For each look under way, what the watch has told meanwhile. */
  readonly #reads = new Set<Set<LeaseChange>>();
  #next = Promise.withResolvers<void>();
  #running: Promise<void> = Promise.resolve();

  private constructor(store: LeaseStore, onTrouble: (error: Error) => void) {
    this.#store = store;
    this.#onTrouble = onTrouble;
  }

  /** Throws what the first look throws; later trouble is told, and tried again. */
  static async open(
    store: LeaseStore,
    { signal, onTrouble = () => {} }: { signal?: AbortSignal; onTrouble?: (error: Error) => void },
  ): Promise<LeaseBoard> {
    const board = new LeaseBoard(store, onTrouble);
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

  /** As it is now; undefined if there is none. */
  get(name: string): LeaseObject | undefined {
    return this.#leases.get(name);
  }

  /** Without a copy, for those who look at many and often. */
  all(): Iterable<LeaseObject> {
    return this.#leases.values();
  }

  /** Resolves with the next change. Ask before you look, or what happens in between is lost. */
  get changed(): Promise<void> {
    return this.#next.promise;
  }

  /** Reads everything anew, for decisions that must not rest on what a watch may have held back. */
  async refresh(signal?: AbortSignal): Promise<void> {
    await this.#read(signal);
  }

  /** What an own call has just answered; the watch will tell it again. */
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

  /** What the watch has told since the server looked is newer than the look, and stays. */
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
        this.#onTrouble(error instanceof Error ? error : new Error(String(error)));
      }
      version = undefined;
      // Also after a plain end: when a server restarts, all who wait come back, and not in one wave.
      await pause(pauseMs(failures), signal).catch(() => {});
    }
  }

  #hear({ type, object }: LeaseChange): void {
    if (this.#isOldNews(object)) return;
    if (type === "DELETED") this.forget(object.metadata.name);
    else this.#saw(object);
  }

  /** A watch may lag behind a look or an own write; what it brings then would put the clock back. */
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
