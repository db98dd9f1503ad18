import { pause, pauseMs } from "../client/pause.ts";
import type { Sight } from "./expiry.ts";
import type { LeaseObject } from "./kube-objects.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { View } from "./situation.ts";
import { watchLeases } from "./watch-leases.ts";

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

  async #read(signal: AbortSignal = this.#closed.signal): Promise<string | undefined> {
    const { items, metadata } = await this.#store.list({ signal });
    const names = new Set(items.map((lease) => lease.metadata.name));
    for (const name of this.#leases.keys()) if (!names.has(name)) this.forget(name);
    for (const lease of items) this.#saw(lease);
    this.#tell();
    return metadata.resourceVersion;
  }

  async #follow(from: string | undefined): Promise<void> {
    const { signal } = this.#closed;
    let version = from;
    for (let failures = 0; !signal.aborted; ) {
      try {
        version ??= await this.#read();
        for await (const { type, object } of watchLeases(this.#store, { version, signal })) {
          failures = 0;
          if (type === "DELETED") this.forget(object.metadata.name);
          else this.#saw(object);
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
