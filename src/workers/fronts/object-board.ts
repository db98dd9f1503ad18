/** All objects of one kind, read once and then followed. */
import { pause, pauseMs } from "../../client/pause.ts";
import type { HubApi } from "../../drivers/hub/hub-api.ts";
import { type Kind, pathOf } from "../../drivers/hub/kind.ts";
import { byVersion, type KubeList, type KubeObject } from "../../kubernetes/kube-objects.ts";
import { watchObjects } from "../../kubernetes/watch-objects.ts";

export interface BoardEvents {
  changed(): void;
  /** It works, or works again. */
  up(): void;
  down(cause: Error): void;
}

const pageSize = 500;

export class ObjectBoard<Item extends KubeObject> {
  readonly #hub: HubApi;
  readonly #kind: Kind;
  readonly #events: BoardEvents;
  readonly #objects = new Map<string, Item>();
  /** Whether the objects are all that there are, as far as the last list and the watch since tell. */
  #complete = false;

  constructor(hub: HubApi, kind: Kind, events: BoardEvents) {
    this.#hub = hub;
    this.#kind = kind;
    this.#events = events;
  }

  get isComplete(): boolean {
    return this.#complete;
  }

  get objects(): readonly Item[] {
    return [...this.#objects.values()];
  }

  get size(): number {
    return this.#objects.size;
  }

  has(uid: string): boolean {
    return this.#objects.has(uid);
  }

  /** What a write has answered. The watch brings it too, a little later. */
  put(object: Item): void {
    const { uid = "", resourceVersion } = object.metadata;
    const known = this.#objects.get(uid);
    if (known === undefined) return; // It was deleted meanwhile.
    if ((byVersion(known.metadata.resourceVersion, resourceVersion) ?? 0) > 0) return;
    this.#objects.set(uid, object);
  }

  /** Resolves when it is stopped. A watch that ends, for whatever reason, is followed by a new list. */
  async follow(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const version = await this.#read(signal);
        failures = 0;
        this.#events.up();
        await this.#watch(version, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#complete = false;
        this.#events.down(error instanceof Error ? error : new Error(String(error)));
        failures += 1;
      }
      await pause(failures === 0 ? 50 : pauseMs(failures), signal).catch(() => {});
    }
  }

  async #read(signal: AbortSignal): Promise<string | undefined> {
    const found = new Map<string, Item>();
    let version: string | undefined;
    let next: string | undefined;
    do {
      const query = { limit: pageSize, continue: next };
      const page: KubeList<Item> = await this.#hub.call<KubeList<Item>>(
        { path: pathOf(this.#kind), query, signal },
        this.#kind,
      );
      for (const item of page.items) found.set(item.metadata.uid ?? "", item);
      version ??= page.metadata.resourceVersion;
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
    this.#objects.clear();
    for (const [uid, item] of found) this.#objects.set(uid, item);
    this.#complete = true;
    this.#events.changed();
    return version;
  }

  async #watch(version: string | undefined, signal: AbortSignal): Promise<void> {
    const watched = { api: await this.#hub.connected(), path: pathOf(this.#kind) };
    for await (const { type, object } of watchObjects<Item>(watched, { version, signal })) {
      const uid = object.metadata.uid ?? "";
      if (type === "DELETED") this.#objects.delete(uid);
      else this.#objects.set(uid, object);
      this.#events.changed();
    }
  }
}
