/**
 * Submit, wait on an open connection, answer: the one way in which every edge lets a client wait for
 * its turn. It knows the broker only, so that the simulator tests what the HTTP edges run.
 */
import { standing } from "../core/decide/acquire.ts";
import type { Reader } from "../core/explain/out-of-use.ts";
import type { LeaseView } from "../core/explain/view.ts";
import type { Command } from "../core/model/command.ts";
import type { RequestId, SpaceName } from "../core/model/ids.ts";
import type { Origin } from "../core/model/origin.ts";
import type { Outcome } from "../core/model/outcome.ts";
import { JournalUnavailable } from "../journal/journal.ts";
import type { Broker } from "./broker.ts";
import { BrokerClosed, NotLeader, OutcomeUnknown } from "./broker-contract.ts";
import { newRequestId } from "./lease-identity.ts";

export type WaitingBroker = Pick<Broker, "now" | "submit" | "read" | "untilSettled">;

/** What a client may wait for: a new request, or one that it has made before. */
type WaitingCommand = Extract<Command, { type: "acquire" | "refresh" | "keep-waiting" }>;

export interface WaitOptions {
  /** Its signal, read only by those who wait, aborts when the client's connection closes. */
  readonly connection?: { readonly signal: AbortSignal };
  /** Whether the request leaves the queue after the command's `waitMs`; the default is to stay. */
  readonly whenTimedOut?: "stay" | "leave";
  readonly newId?: () => RequestId;
  /** Who waits. */
  readonly from?: Origin;
}

/**
 * The outcome of a command, for which the client waits up to the command's `waitMs`. When its
 * connection closes first, the request keeps its place for one ttl, so that the client can come back;
 * a new request without a key leaves the queue, because its client knows no id to come back with.
 */
export async function submitAndWait(
  broker: WaitingBroker,
  command: WaitingCommand,
  options: WaitOptions = {},
): Promise<Outcome> {
  const outcome = await broker.submit(command, options.from);
  const { whenTimedOut = "stay" } = options;
  if (outcome.type !== "waiting" || (command.waitMs === 0 && whenTimedOut === "stay")) {
    return outcome;
  }
  try {
    return await waited(broker, command, outcome, { ...options, whenTimedOut });
  } catch (cause) {
    // A poll has made nothing. A new request is in the queue, so that it is wrong to say "no effect".
    if (!isUnavailable(cause) || command.type === "keep-waiting") throw cause;
    if (whenTimedOut === "stay" && !isPolled(command)) return outcome;
    // Another server may decide a request with a key once more.
    if (outcome.request.key !== undefined && !(cause instanceof JournalUnavailable)) throw cause;
    throw unknownAfter(cause);
  }
}

type Waiting = Extract<Outcome, { type: "waiting" }>;

async function waited(
  broker: WaitingBroker,
  command: WaitingCommand,
  outcome: Waiting,
  { connection, whenTimedOut, newId, from }: WaitOptions,
): Promise<Outcome> {
  const { id, key, space } = outcome.request;
  const signal = connection?.signal;
  await broker.untilSettled(id, command.waitMs, { present: true, signal, space });
  if (signal?.aborted) {
    // First the command that needs no journal: if leaving cannot be committed, the ttl ends it.
    await broker.submit({ type: "keep-waiting", id, waitMs: 0 });
    const canComeBack = command.type === "keep-waiting" || key !== undefined;
    if (canComeBack) return outcome; // Nobody reads it.
    return broker.submit({ type: "leave", id, why: "disconnected" }, from);
  }
  if (whenTimedOut === "leave") {
    // A request that was granted in the last moment does not leave: the outcome is its lease.
    const left = await broker.submit({ type: "leave", id, why: "cancelled" }, from);
    if (left.type !== "granted" || !isPolled(command)) return left;
  } else if (!isPolled(command)) {
    return requestStanding(broker, id);
  } else if (!(await broker.read(({ leases }) => leases.has(id)))) {
    return outcome;
  }
  // Only by asking again does the journal learn that the client of a polled lease was answered.
  const nextId = newId?.() ?? newRequestId(broker.now());
  return broker.submit({ ...command, id: nextId, waitMs: 0 }, from);
}

function isPolled(command: WaitingCommand): boolean {
  return command.type === "acquire" && command.ask.presenceMs !== undefined;
}

function isUnavailable(cause: unknown): cause is Error {
  return [JournalUnavailable, NotLeader, BrokerClosed].some((kind) => cause instanceof kind);
}

function unknownAfter(cause: Error): OutcomeUnknown {
  const own = cause instanceof JournalUnavailable ? cause.hint : undefined;
  const hint = own ?? "Wait until the server is back";
  return new OutcomeUnknown("Cannot tell the outcome: the request waits, or has been granted", {
    cause,
    hint,
  });
}

interface WatchOptions extends Pick<WaitOptions, "connection"> {
  readonly reader?: Reader;
  /** Of the onlooker. */
  readonly space?: SpaceName | undefined;
}

/** For an onlooker, whose waiting does not keep the request alive. */
export async function watchRequest(
  broker: WaitingBroker,
  id: RequestId,
  waitMs: number,
  { connection, reader, space }: WatchOptions,
): Promise<Outcome> {
  const outcome = await requestStanding(broker, id, reader);
  if (outcome.type !== "waiting" || waitMs === 0) return outcome;
  const signal = connection?.signal;
  await broker.untilSettled(id, waitMs, { present: false, signal, space });
  return requestStanding(broker, id, reader);
}

function requestStanding(broker: WaitingBroker, id: RequestId, reader?: Reader): Promise<Outcome> {
  return broker.read((state, now) => standing(state, id, now, reader));
}

interface Replies {
  open: number;
  arrived: boolean;
  /** How many replies had granted the lease by then, this one included. */
  readonly sent: number;
}

/**
 * Tracks the replies that carry a lease whose holder sends no token. If the only reply is lost, the
 * client does not know its lease, so the broker must learn that it was not delivered. A lost reply
 * does not matter if another reply for the same lease arrives or has arrived: the client may have
 * repeated its call after the first answer. Nothing is known about replies from before this process
 * started, so leases that are older than the process count as delivered.
 */
export class Deliveries {
  readonly #broker: Broker;
  readonly #underWay = new Map<RequestId, Replies>();
  readonly #arrived = new Set<RequestId>();

  constructor(broker: Broker) {
    this.#broker = broker;
    broker.listen({
      committed: ({ events }) => {
        for (const event of events)
          if (event.type === "lease-ended") this.#arrived.delete(event.id);
      },
      writable: (cause) => {
        if (cause === null) this.#trustEarlier();
      },
    });
    this.#trustEarlier();
  }

  /** Another process may have granted leases until now. */
  #trustEarlier(): void {
    void this.#broker
      .read(({ leases }) => {
        for (const { id, ask, delivered } of leases.values()) {
          const isPolled = ask.byName === true || ask.presenceMs !== undefined;
          if (isPolled && delivered && !this.#underWay.has(id)) this.#arrived.add(id);
        }
      })
      .catch(() => {}); // The broker is closing.
  }

  begin(leases: readonly LeaseView[]): void {
    for (const { id, repliesSent: sent } of leases) {
      const { open = 0, arrived = false } = this.#underWay.get(id) ?? {};
      this.#underWay.set(id, { open: open + 1, arrived, sent });
    }
  }

  /** A reply was written to its connection, or the connection was lost. */
  end(leases: readonly LeaseView[], arrived: boolean): void {
    for (const { id } of leases) {
      const replies = this.#underWay.get(id);
      if (replies === undefined) continue;
      replies.open -= 1;
      replies.arrived ||= arrived;
      if (replies.open > 0) continue;
      this.#underWay.delete(id);
      if (replies.arrived) this.#remember(id);
      else if (!this.#arrived.has(id)) this.#report(id, replies.sent);
    }
  }

  /**
   * The lease may have ended before its reply was written. No later event would then remove the id,
   * so this checks whether the lease still exists.
   */
  #remember(id: RequestId): void {
    if (this.#arrived.has(id)) return;
    this.#arrived.add(id);
    const check = this.#broker.read(({ leases }) => leases.has(id) || this.#arrived.delete(id));
    check.catch(() => {}); // The state is not readable. An id that stays in the set is harmless.
  }

  /** If the journal cannot record this, the lease expires by its own deadline in the end. */
  #report(id: RequestId, sent: number): void {
    this.#broker.submit({ type: "not-delivered", id, repliesSent: sent }).catch(() => {});
  }
}
