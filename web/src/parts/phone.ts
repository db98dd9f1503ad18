/** A window as narrow as that of a phone or of half a screen: the same widths as in `phone.css`. */
import { useSyncExternalStore } from "react";

const narrow = widthUpTo(900);
const noWiderThanViews = widthUpTo(1_120);

/** There is no window in the tests of functions. */
function widthUpTo(pixels: number): MediaQueryList | undefined {
  return typeof matchMedia === "undefined" ? undefined : matchMedia(`(max-width: ${pixels}px)`);
}

export function useIsPhone(): boolean {
  return useMatches(narrow);
}

/** Whether the header has no room for all views and what stands in its corner. */
export function useHasMenu(): boolean {
  return useMatches(noWiderThanViews);
}

function useMatches(media: MediaQueryList | undefined): boolean {
  return useSyncExternalStore(
    (changed) => {
      media?.addEventListener("change", changed);
      return () => media?.removeEventListener("change", changed);
    },
    () => media?.matches === true,
  );
}

/** A row is three lines there, so a long list would be ten screens. */
const rowsOnPhone = 20;

/** How many rows of a long list are shown at first. Where it is one of several lists, `onPhone` is less. */
export function rowsAtFirst(onDesk: number, onPhone = rowsOnPhone): number {
  return narrow?.matches === true ? Math.min(onDesk, onPhone) : onDesk;
}
