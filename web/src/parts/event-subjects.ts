/** Which pools and which space an event is about. Only the first event of a request says it. */
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { factsOf, listOf, text } from "./event-facts.ts";

export interface Subjects {
  readonly poolsOf: (event: FeedEvent) => readonly string[];
  /** Empty: it is not known, or there is none. */
  readonly spaceOf: (event: FeedEvent) => string;
  /** All of these events, by name. */
  readonly pools: readonly string[];
  readonly spaces: readonly string[];
}

export function subjectsIn(events: readonly FeedEvent[]): Subjects {
  const asks = new Map<string, { readonly pools: readonly string[]; readonly space: string }>();
  const pools = new Set<string>();
  for (const { id, ask, pool } of events) {
    if (typeof pool === "string") pools.add(pool);
    if (ask === undefined) continue;
    const { items, space } = factsOf(ask);
    const asked = [...new Set(listOf(items).map((item) => text(item["pool"])))];
    for (const name of asked) pools.add(name);
    asks.set(text(id), { pools: asked, space: text(space) });
  }
  const known = [...pools].sort();
  const poolsOf = (event: FeedEvent) => {
    if (typeof event["pool"] === "string") return [event["pool"]];
    return asks.get(text(event["id"]))?.pools ?? byName(event, known);
  };
  const spaces = new Set(Array.from(asks.values(), ({ space }) => space));
  spaces.delete("");
  const spaceOf = (event: FeedEvent) => asks.get(text(event["id"]))?.space ?? "";
  return { poolsOf, spaceOf, pools: known, spaces: [...spaces].sort() };
}

/** A resource is named after its pool, unless its name is configured. The longest name that fits. */
function byName(event: FeedEvent, pools: readonly string[]): string[] {
  const names = [
    event["resource"],
    ...[...listOf(event["back"]), factsOf(event["back"])].map(resourceIn),
  ];
  const found = names.flatMap((name) => {
    const fits = pools.filter((pool) => text(name).startsWith(`${pool}-`));
    const [longest] = fits.sort((a, b) => b.length - a.length);
    return longest === undefined ? [] : [longest];
  });
  return [...new Set(found)];
}

const resourceIn = (facts: Readonly<Record<string, unknown>>) => facts["resource"];
