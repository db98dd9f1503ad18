/**
 * The only way to change a state. Outside `core/apply` the types are readonly, and `layers.test.ts`
 * allows no import of this file there.
 */

import type {
  DueHeap,
  IdleList,
  Linked,
  Numbered,
  OrderedTree,
  ReadonlyDueHeap,
  ReadonlyIdleList,
  ReadonlyTree,
  Timed,
} from "../model/collections.ts";
import type { EndedMemory } from "../model/ended-memory.ts";
import type { FairQueue, ReadonlyFairQueue } from "../model/fair-queue.ts";
import type { Rank } from "../model/rank.ts";
import type { ReadonlyEnded } from "../model/state.ts";

/** Returns the same object, writable one level deep. */
export function edit<K, V>(map: ReadonlyMap<K, V>): Map<K, V>;
export function edit<V>(set: ReadonlySet<V>): Set<V>;
export function edit<E extends Rank>(queue: ReadonlyFairQueue<E>): FairQueue<E>;
export function edit<E extends K, K extends Numbered>(tree: ReadonlyTree<E, K>): OrderedTree<E, K>;
export function edit<E extends Linked<E>>(list: ReadonlyIdleList<E>): IdleList<E>;
export function edit<E extends Timed>(heap: ReadonlyDueHeap<E>): DueHeap<E>;
export function edit(ended: ReadonlyEnded): EndedMemory;
export function edit<T extends object>(entity: T): { -readonly [Key in keyof T]: T[Key] };
export function edit(value: unknown): unknown {
  return value;
}
