/** What a `priority-changed` event says, after the holder of the request; `patience` of the pool, if it is known. */
import { type Facts, text } from "./event-facts.ts";

export function rankWords(event: Facts, patience = "its patience"): string {
  if (event["starved"] === true) return starvedWords(event, patience);
  const how = event["aged"] === true ? "has waited long and gets" : "is set to";
  return `${how} priority ${text(event["priority"])}`;
}

/** Servers before the name of the pool was added do not tell it. */
function starvedWords({ pool }: Facts, patience: string): string {
  const of = pool === undefined ? "" : ` of ${text(pool)}`;
  return `goes first: its space got nothing${of} for ${patience}`;
}
