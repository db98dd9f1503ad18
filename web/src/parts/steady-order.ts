import { type RefObject, useRef } from "react";

/** The items in the order of the names; those that are new come last, in their own order. */
export function inOrderOf<Item>(
  names: readonly string[],
  items: readonly Item[],
  nameOf: (item: Item) => string,
): readonly Item[] {
  const places = new Map(names.map((name, place) => [name, place]));
  const placeOf = (item: Item) => places.get(nameOf(item)) ?? names.length;
  return items.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Keeps the order of a list while somebody reads it: the pointer or the focus is in it. */
export function useSteadyOrder<Item, List extends Element>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): { readonly items: readonly Item[]; readonly list: RefObject<List | null> } {
  const list = useRef<List>(null);
  const names = useRef<readonly string[]>([]);
  const isRead = list.current?.matches(":hover, :focus-within") === true;
  const steady = isRead ? inOrderOf(names.current, items, nameOf) : items;
  names.current = steady.map(nameOf);
  return { items: steady, list };
}
