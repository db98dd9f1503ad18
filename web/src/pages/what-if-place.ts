/** Where the what-if of a pool is: other views lead to it. */
import { useEffect } from "react";
import { at } from "../router.ts";

export const whatIfTitle = "what-if-title";

export function whatIfAt(pool: string): string {
  return `${at("pools", pool)}#${whatIfTitle}`;
}

/** The section comes later than the address, so the browser does not find it by itself. */
export function useScrollToWhatIf(): void {
  useEffect(() => {
    if (location.hash === `#${whatIfTitle}`) document.getElementById(whatIfTitle)?.scrollIntoView();
  }, []);
}
