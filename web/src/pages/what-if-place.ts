/** Where the what-if of a pool is: other views lead to it. */
import { at } from "../router.ts";

export const whatIfTitle = "what-if-title";

export function whatIfAt(pool: string): string {
  return `${at("pools", pool)}#${whatIfTitle}`;
}
