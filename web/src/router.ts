/** The address of the current view. Every view has an address, and filters are in its query. */
import { useCallback, useMemo } from "react";
import { Store, useStore } from "./data/store.ts";

const address = new Store(here());

function here(): string {
  return location.pathname + location.search;
}

window.addEventListener("popstate", () => address.set(here()));

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

export function usePlace(): Place {
  const text = useStore(address);
  return useMemo(() => {
    const { pathname, searchParams } = new URL(text, location.origin);
    return { path: pathname, query: searchParams };
  }, [text]);
}

/** Called after each change of the address. Returns a function that ends it. */
export function onPlace(listener: () => void): () => void {
  return address.subscribe(listener);
}

/** `replace`: adds no entry to the browser's history, as for each letter of a filter. */
export function go(to: string, { replace = false, keepScroll = false } = {}): void {
  if (to === here()) return;
  if (replace) history.replaceState(null, "", to);
  else {
    const left = document.activeElement?.getAttribute("href") ?? null;
    history.replaceState(left, "");
    history.pushState(null, "", to);
    if (!keepScroll) window.scrollTo(0, 0);
  }
  address.set(here());
}

/** The link that this view was left by, if somebody has come back to it. */
export function leftBy(): string | null {
  const state: unknown = history.state;
  return typeof state === "string" ? state : null;
}

/**
 * One filter of the view: its value, and a function that sets it. Empty means absent. A choice is a step that the
 * Back button undoes. `replace`: it is typed, and no letter is a step.
 */
export function useFilter(
  name: string,
  { replace = false } = {},
): readonly [string, (value: string) => void] {
  const { query } = usePlace();
  const set = useCallback(
    (value: string) => {
      const place = { path: location.pathname, query: new URLSearchParams(location.search) };
      go(withFilters(place, { [name]: value }), { replace, keepScroll: true });
    },
    [name, replace],
  );
  return [query.get(name) ?? "", set];
}

/** The address of the place with other values of some filters. Empty means absent. */
export function withFilters(
  { path, query }: Place,
  filters: Readonly<Record<string, string>>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(filters)) {
    if (value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return path + (text === "" ? "" : `?${text}`);
}

/** `at("pools", name)`: the address of a view, escaped. */
export function at(...segments: readonly string[]): string {
  return `/${segments.map(encodeURIComponent).join("/")}`;
}

/** A part of an address as text; what is no such text stays as it is. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // The user may have typed a path that cannot be decoded.
  }
}
