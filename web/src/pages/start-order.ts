/** The order in which the requests of a queue are expected to start. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";
import { positionThere } from "./queue-facts.ts";

type Ranked = Pick<
  WaitingRequest,
  "id" | "items" | "position" | "reason" | "space" | "queuedAt" | "estimate"
>;

/** Where a request is in its queue. */
export interface Turn {
  readonly place: number;
  /** How many are ahead of it, and of whom; undefined if not all of them are known. */
  readonly ahead: string | undefined;
  /** Others of its queue have an expected start, and it has none yet. */
  readonly isNew: boolean;
  /** Requests ahead in the queue are not counted: they wait for another pool first. */
  readonly skips?: true;
}

/**
 * The requests of one queue, first to start first. Where spaces share a queue, a position is the one by the
 * shares of this moment, and each grant changes the shares: of 50 requests one may jump by 28 places and back
 * within seconds. Where sizes differ, a small request may start before larger ones ahead of it. Estimates
 * foresee both, so they give the order there. A request without an estimate stays at its position, or is last
 * where sizes differ: there, its position does not tell when it fits.
 */
export function inStartOrder<T extends Ranked>(queue: readonly T[]): T[] {
  const byPosition = queue.toSorted(
    (a, b) => positionThere(a) - positionThere(b) || a.queuedAt.localeCompare(b.queuedAt),
  );
  if (!takesTurns(queue)) return byPosition;
  const byStart = byPosition
    .filter(({ estimate }) => estimate !== null)
    .sort((a, b) => startOf(a) - startOf(b));
  if (asksForRoom(queue) && byStart.length > 0) {
    const others = queue.filter(({ estimate }) => estimate === null);
    return [...byStart, ...others.toSorted((a, b) => a.queuedAt.localeCompare(b.queuedAt))];
  }
  const known = byStart.values();
  return byPosition.map((request) => {
    return request.estimate === null ? request : (known.next().value ?? request);
  });
}

/**
 * The turns of the requests of one queue, or of the queues below one limit. `elsewhere` is the number of known
 * requests that are in the queue too, but wait for another pool first: they are listed there, so that the places
 * here have no holes.
 */
export function turnsIn(queue: readonly Ranked[], elsewhere = 0): ReadonlyMap<string, Turn> {
  const positions = queue.map(positionThere).sort((a, b) => a - b);
  const holes = (positions.at(-1) ?? 0) - positions.length;
  const skips = holes > 0 && holes <= elsewhere;
  // Others may be in between, of a space that the reader does not see: then the places have holes.
  const isCounted = skips || hasSeveralQueues(queue);
  const places = isCounted ? positions.map((_, index) => index + 1) : positions;
  const isWhole = places.every((place, index) => place === index + 1);
  const isKnown = queue.some(({ estimate }) => estimate !== null);
  // In one queue of one space and one size, the position says it all.
  const counted = isWhole && (isCounted || takesTurns(queue));
  const turns = new Map<string, Turn>();
  const counts = new Map<string, number>();
  for (const [index, { id, space = "", estimate }] of inStartOrder(queue).entries()) {
    const own = counts.get(space) ?? 0;
    turns.set(id, {
      place: places[index] ?? index + 1,
      ahead: counted ? aheadWords(own, index, counts) : undefined,
      isNew: isKnown && estimate === null && !asksForRoom(queue),
      ...(skips ? { skips } : undefined),
    });
    counts.set(space, own + 1);
  }
  return turns;
}

/** Those of the queue of a pool that are ahead of one; undefined if it is not there or not all are known. */
export function aheadIn<T extends Ranked>(
  queue: readonly T[],
  id: string,
  pool: string,
  seesAll: boolean,
): readonly T[] | undefined {
  const here = queue.filter(({ reason }) => reason.pool === null || reason.pool === pool);
  const turns = turnsIn(here, seesAll ? queue.length - here.length : 0);
  const inOrder = here.toSorted((a, b) => placeOf(turns, a) - placeOf(turns, b));
  const index = inOrder.findIndex((one) => one.id === id);
  return index >= 0 && turns.get(id)?.place === index + 1 ? inOrder.slice(0, index) : undefined;
}

function placeOf(turns: ReadonlyMap<string, Turn>, { id }: Pick<WaitingRequest, "id">): number {
  return turns.get(id)?.place ?? 0;
}

const tail =
  /(next in line|next of its space|[\d,]+ (of its space )?ahead|others that share .+ are ahead)$/;

/** The reason with the turn of the order that is shown. A quota has an order of its own. */
export function withTurn(reason: string, turn: Turn | undefined): string {
  if (turn?.ahead === undefined || /of its space( ahead)?$/.test(reason)) return reason;
  return reason.replace(tail, turn.ahead);
}

/**
 * The reason of a row whose place stands beside it. Reservations and quotas have orders of their own, so a second
 * number would contradict the first.
 */
export function withoutPlace(reason: string, turn: Turn | undefined): string {
  const [cause = "", place] = reason.split(/; (?=[^;]*$)/);
  return turn === undefined || place === undefined || !tail.test(place) ? reason : cause;
}

/** `4 ahead, 3 of other spaces`. */
function aheadWords(own: number, all: number, spaces: ReadonlyMap<string, number>): string {
  if (all === 0) return "next in line";
  const [only] = spaces.keys();
  if (own === all) return `${grouped(all)} ahead`;
  if (own > 0) return `${grouped(all)} ahead, ${grouped(all - own)} of other spaces`;
  return `${grouped(all)} ahead, ${all === 1 ? "" : "all "}of ${spaces.size === 1 ? only : "other spaces"}`;
}

/** Whether others than those with a lower position may start first: of other spaces or pools, or smaller ones. */
export function takesTurns(queue: readonly Ranked[]): boolean {
  return hasSeveralSpaces(queue) || hasSeveralQueues(queue) || asksForRoom(queue);
}

function hasSeveralQueues(requests: readonly Pick<WaitingRequest, "reason">[]): boolean {
  return new Set(requests.map(({ reason }) => reason.pool)).size > 1;
}

export function asksForRoom(queue: readonly Ranked[]): boolean {
  return queue.some(({ items }) => items.some(({ amount }) => amount !== undefined));
}

/** By what one queue is listed; empty if by who came first, or while no start is known. */
export function orderWords(queue: readonly Ranked[]): string {
  const isKnown = queue.some(({ estimate }) => estimate !== null);
  if (queue.length < 2 || !isKnown || !takesTurns(queue)) return "";
  const why = asksForRoom(queue)
    ? ": a small one may start before a larger one"
    : hasSeveralSpaces(queue)
      ? ": each start changes the shares of the spaces"
      : "";
  return `in the order of the expected starts${why}`;
}

export function hasSeveralSpaces(requests: readonly Pick<WaitingRequest, "space">[]): boolean {
  return new Set(requests.map(({ space }) => space)).size > 1;
}

/** One list has several queues, so it is not in the order of one of them. */
export const listOrders = [
  ["", "Longest wait first"],
  ["start", "Expected start first"],
  ["late", "Most late first"],
] as const;

/** By one of `listOrders`. Requests without such a time come last, the oldest first. */
export function inListOrder<T extends Ranked>(requests: readonly T[], order: string): T[] {
  const oldest = requests.toSorted((a, b) => a.queuedAt.localeCompare(b.queuedAt));
  if (order === "start") return oldest.sort((a, b) => startOf(a) - startOf(b));
  if (order !== "late") return oldest;
  const due = ({ estimate }: T) => Date.parse(estimate?.first?.p90At ?? "") || noTime;
  return oldest.sort((a, b) => due(a) - due(b));
}

/** Infinite times have no difference. */
const noTime = Number.MAX_SAFE_INTEGER;

function startOf({ estimate }: Pick<WaitingRequest, "estimate">): number {
  return estimate?.p50Seconds ?? noTime;
}
