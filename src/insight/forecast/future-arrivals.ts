/**
 * The requests that will come while others wait. Some of them go ahead: those of a higher priority,
 * those of a space with a lower share, and small ones before a large one. Without them an estimate
 * would be too early wherever that happens.
 *
 * They come as the recorded ones came: each future repeats the recent requests, with their bursts,
 * from a random moment on.
 */
import type { FrozenState } from "../../core/apply/snapshot.ts";
import type { Ask, Command, Item } from "../../core/model/command.ts";
import type { RequestId, SpaceName } from "../../core/model/ids.ts";
import type { Instant } from "../../core/model/time.ts";
import { itemOf, poolsOf } from "../history/entry.ts";
import type { RecentArrivals } from "./arrival-samples.ts";
import type { Random } from "./random.ts";

/** Requests that came earlier are not typical of the next hours. */
const windowMsMax = 6 * 3_600_000;
/** In one future. A request that waits for longer than so many others take has a vague estimate. */
const arrivalsMax = 400;
/** Fewer tell nothing about how many will come. */
const knownMin = 5;

const foreverMs = 100 * 365 * 24 * 3_600_000;

export interface PlannedArrival {
  readonly at: Instant;
  readonly command: Command & { readonly type: "acquire" };
}

interface Known {
  /** Counted from the beginning of the window. */
  readonly offsetMs: number;
  readonly ask: Ask;
}

type Waiting = FrozenState["requests"][number];

export class FutureArrivals {
  readonly #known: readonly Known[];
  readonly #spanMs: number;
  readonly #now: Instant;

  constructor(part: FrozenState, recent: RecentArrivals, now: Instant) {
    const all = asksIn(part, recent);
    const first = Math.min(now, ...all.slice(0, 1).map(({ at }) => at));
    const since = Math.max(Math.min(recent.since, now), first, now - windowMsMax);
    const inWindow = all.filter(({ at }) => at >= since);
    const mayOvertake = overtakers(part.requests);
    const overtaking = inWindow.filter(({ ask }) => mayOvertake(ask));
    const isKnown = inWindow.length >= knownMin && now > since;
    this.#known = isKnown ? overtaking.map(({ at, ask }) => ({ offsetMs: at - since, ask })) : [];
    this.#spanMs = now - since;
    this.#now = now;
  }

  /** Whether none will go ahead of a request that waits, as far as is known. */
  get isEmpty(): boolean {
    return this.#known.length === 0;
  }

  /** One future. */
  draw(random: Random): DrawnArrivals {
    const startMs = random.next() * this.#spanMs;
    return new DrawnArrivals(this.#known, {
      startMs,
      spanMs: this.#spanMs,
      now: this.#now,
    });
  }
}

/** The requests of one future, in the order of time. */
export class DrawnArrivals {
  readonly #known: readonly Known[];
  readonly #spanMs: number;
  /** When the present round of the recorded requests began. */
  #roundAt: number;
  #index: number;
  #drawn = 0;

  constructor(
    known: readonly Known[],
    { startMs, spanMs, now }: { startMs: number; spanMs: number; now: number },
  ) {
    this.#known = known;
    this.#spanMs = spanMs;
    this.#roundAt = now - startMs;
    const first = known.findIndex(({ offsetMs }) => offsetMs > startMs);
    this.#index = first < 0 ? known.length : first;
  }

  next(): PlannedArrival | undefined {
    if (this.#drawn >= arrivalsMax) return undefined;
    if (this.#index >= this.#known.length) {
      this.#index = 0;
      this.#roundAt += this.#spanMs;
    }
    const known = this.#known[this.#index++];
    if (known === undefined) return undefined;
    const id = `${arrivalPrefix}${this.#drawn++}` as RequestId;
    const command = { type: "acquire", id, ask: known.ask, waitMs: foreverMs } as const;
    return { at: Math.ceil(this.#roundAt + known.offsetMs) as Instant, command };
  }
}

/** No request of a client has such an id. */
const arrivalPrefix = "future arrival ";

export function isArrival(id: RequestId): boolean {
  return id.startsWith(arrivalPrefix);
}

/** What was asked for in these pools, in the order of time. */
function asksIn(
  part: FrozenState,
  { ended }: RecentArrivals,
): { readonly at: number; readonly ask: Ask }[] {
  const pools = new Set<string>(part.pools.map(({ name }) => name));
  const hasSpaces = part.requests.some(({ ask }) => ask.space !== undefined);
  const asked: { id: string; at: number; ask: Pick<Ask, "items" | "priority" | "space"> }[] = [];
  for (const { id, askedAt, items, priority, space } of ended) {
    const owner = hasSpaces ? { space: space as SpaceName } : undefined;
    asked.push({ id, at: askedAt, ask: { items: items.map(itemOf), priority, ...owner } });
  }
  const known = new Set(asked.map(({ id }) => id));
  for (const { id, queuedAt, ask } of [...part.leases, ...part.requests]) {
    const isUse = ask.items.every(({ state }) => state === undefined);
    if (isUse && !known.has(id)) asked.push({ id, at: queuedAt, ask });
  }
  return asked
    .flatMap(({ at, ask: { items, priority = 0, space } }) => {
      const here = items.filter((item) => poolsOf(item).every((pool) => pools.has(pool)));
      const owner = space === undefined ? undefined : { space };
      const ask: Ask = { holder: "", items: here, priority, ttlMs: foreverMs, ...owner };
      return here.length === 0 ? [] : [{ at, ask }];
    })
    .sort((a, b) => a.at - b.at);
}

/** Whether a request could be granted before one that waits already. */
function overtakers(waiting: readonly Waiting[]): (ask: Ask) => boolean {
  const spaces = new Set<string | undefined>();
  let lowest = Number.POSITIVE_INFINITY;
  let isAnyFlexible = false;
  for (const { ask, ranked } of waiting) {
    spaces.add(ask.space);
    lowest = Math.min(lowest, ranked?.priority ?? ask.priority ?? 0);
    isAnyFlexible ||= ask.items.length > 1 || ask.group !== undefined || ask.items.some(isFlexible);
  }
  return ({ priority = 0, space }) => {
    return isAnyFlexible || priority > lowest || spaces.size > 1 || !spaces.has(space);
  };
}

/** Within its space and its priority, nobody overtakes a request for whole resources of one pool. */
function isFlexible({ amount, anyOf }: Item): boolean {
  return amount !== undefined || anyOf !== undefined;
}
