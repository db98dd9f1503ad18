import { nearest } from "../../../src/core/model/nearest.ts";

export const pageOf = (text: string) => `/search?q=${encodeURIComponent(text.trim())}`;

export interface Meant {
  readonly label: string;
  readonly href: string;
}

/** The name that the server has found to be near, or else the view with such a name. */
export function meantBy(
  text: string,
  name: string | undefined,
  views: readonly Meant[],
): Meant | undefined {
  if (name !== undefined) return { label: name, href: pageOf(name) };
  const near = nearest(
    text,
    views.map(({ label }) => label),
  );
  return views.find(({ label }) => label === near);
}
