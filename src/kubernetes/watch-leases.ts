import type { LeaseObject } from "./kube-objects.ts";
import type { LeaseStore } from "./lease-store.ts";
import { type Change, type WatchOptions, watchObjects } from "./watch-objects.ts";

export type LeaseChange = Change<LeaseObject>;

/** Yields changes until the connection ends for any reason. Throws if it cannot be opened. */
export function watchLeases(store: LeaseStore, options: WatchOptions): AsyncGenerator<LeaseChange> {
  return watchObjects<LeaseObject>(store, options);
}
