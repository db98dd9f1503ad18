/** A screen as narrow as that of a phone: the same width as in `phone.css`. */
import { useSyncExternalStore } from "react";

/** There is no window in the tests of functions. */
const narrow = typeof matchMedia === "undefined" ? undefined : matchMedia("(max-width: 680px)");

export function useIsPhone(): boolean {
  return useSyncExternalStore(
    (changed) => {
      narrow?.addEventListener("change", changed);
      return () => narrow?.removeEventListener("change", changed);
    },
    () => narrow?.matches === true,
  );
}

/** A row is three lines there, so a long list would be ten screens. */
const rowsOnPhone = 20;

/** How many rows of a long list are shown at first. Where it is one of several lists, `onPhone` is less. */
export function rowsAtFirst(onDesk: number, onPhone = rowsOnPhone): number {
  return narrow?.matches === true ? Math.min(onDesk, onPhone) : onDesk;
}
