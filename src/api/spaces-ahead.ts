/** How many spaces go before the space of a waiting request, as a sentence. */
import type { RequestSpace } from "./space-schemas.ts";

type SpacesAhead = Pick<RequestSpace, "name" | "spacesAhead" | "starvedAhead">;

/** Older servers do not tell who is starved. */
export function spacesAheadWords({ name, spacesAhead, starvedAhead = 0 }: SpacesAhead): string {
  if (spacesAhead === 0) return "No waiting space goes first.";
  const lower = spacesAhead - starvedAhead;
  const reasons = [
    ...(lower === 0 ? [] : [`${lower} with a lower share than ${name}`]),
    ...(starvedAhead === 0 ? [] : [`${starvedAhead} that got nothing of a pool for too long`]),
  ];
  const who = spacesAhead === 1 ? "1 waiting space goes" : `${spacesAhead} waiting spaces go`;
  return `${who} first: ${reasons.join(", ")}.`;
}
