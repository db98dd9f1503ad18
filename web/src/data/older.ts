/** Earlier pages of a list, each read when somebody asks for it. */
import { useEffect, useState } from "react";
import type { PageOf } from "../../../src/api/schemas.ts";

export interface Older<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; undefined: none was read yet; null: there are no more. */
  readonly next: string | null | undefined;
  readonly isReading: boolean;
  readonly error: unknown;
}

const none: Older<never> = { items: [], next: undefined, isReading: false, error: undefined };

/** A search may find nothing for several pages, or too little to see; then one click reads so many. */
const pagesMax = 8;

/** Whether the reader sees that the list has grown by what was found. */
export type IsEnough<Item> = (found: readonly Item[]) => boolean;

/** `key` says what is listed: with another one it begins again. */
export function useOlder<Item>(key: string, read: (after: string) => Promise<PageOf<Item>>) {
  const [older, setOlder] = useState<Older<Item>>(none);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins again.
  useEffect(() => setOlder(none), [key]);
  const load = async (from: string, isEnough: IsEnough<Item> = (found) => found.length > 0) => {
    const start = older;
    setOlder({ ...start, isReading: true, error: undefined });
    let after: string | null = from;
    const found: Item[] = [];
    try {
      for (let page = 0; page < pagesMax && after !== null && !isEnough(found); page++) {
        const { items, next }: PageOf<Item> = await read(after);
        found.push(...items);
        after = next;
      }
      const done = { items: [...start.items, ...found], next: after, isReading: false };
      // If the filter has changed meanwhile, nobody wants these.
      setOlder((now) => (now.isReading ? { ...done, error: undefined } : now));
    } catch (error) {
      setOlder((now) => (now.isReading ? { ...start, isReading: false, error } : now));
    }
  };
  return { ...older, load, reset: () => setOlder(none) };
}
