/** Selects events by what people look for. The page uses it for events of the feed. */
import { type Facts, factsOf, listOf, text } from "./event-facts.ts";
import { isTrouble } from "./event-tone.ts";

export interface EventMatch {
  /** The type, or its beginning: `lease-`. */
  readonly type?: string | undefined;
  /** Only what somebody should look at. */
  readonly trouble?: boolean | undefined;
  readonly pool?: string | undefined;
  /** Of the request or lease. */
  readonly space?: string | undefined;
  /** Anywhere in the values, in small or large letters. */
  readonly text?: string | undefined;
}

/** What an event does not say itself: only the first event of a request names these. */
export interface EventContext {
  readonly holder?: string | undefined;
  readonly space?: string | undefined;
  readonly pools: readonly string[];
}

/** Whether it depends only on the event itself. */
export function needsContext({ pool, space, text: wanted }: EventMatch): boolean {
  return [pool, space, wanted].some((value) => value !== undefined);
}

/** Whether the type of the event is wanted. It costs nothing, so it is asked first. */
export function matchesType(event: Facts, { type, trouble }: EventMatch): boolean {
  return text(event["type"]).startsWith(type ?? "") && (trouble !== true || isTrouble(event));
}

export function matches(event: Facts, context: EventContext, match: EventMatch): boolean {
  const { pool, space, text: wanted } = match;
  return (
    matchesType(event, match) &&
    (pool === undefined || context.pools.includes(pool) || namesPool(event, pool)) &&
    (space === undefined || context.space === space || spaceIn(event) === space) &&
    (wanted === undefined || textOf(event, context).includes(wanted.toLowerCase()))
  );
}

/** The resources that an event names. */
export function resourcesIn(event: Facts): string[] {
  const back = [...listOf(event["back"]), factsOf(event["back"])];
  const all = [event, ...back, ...listOf(event["claims"]), ...listOf(event["rooms"])];
  return all.flatMap(({ resource }) => (typeof resource === "string" ? [resource] : []));
}

/** The pools that an event names itself. */
export function poolsIn(event: Facts): string[] {
  const items = listOf(factsOf(event["ask"])["items"]);
  const all = [event["pool"], ...items.flatMap(({ pool, anyOf }) => [pool, ...namesIn(anyOf)])];
  return all.flatMap((pool) => (typeof pool === "string" ? [pool] : []));
}

function namesIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function namesPool(event: Facts, pool: string): boolean {
  return poolsIn(event).includes(pool);
}

function spaceIn(event: Facts): string {
  return text(factsOf(event["ask"])["space"]);
}

function textOf(event: Facts, { holder, space, pools }: EventContext): string {
  return [...wordsIn(event), holder, space, ...pools].join("\n").toLowerCase();
}

/** All values; a flag is its name, so that `drained` and `undrained` are found. */
function* wordsIn(value: unknown, key = ""): Generator<string> {
  if (value === true) yield key;
  else if (value === false) yield `un${key}`;
  else if (typeof value !== "object" || value === null) yield text(value);
  else for (const [name, part] of Object.entries(value)) yield* wordsIn(part, name);
}
