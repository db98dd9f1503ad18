/**
 * Submit, wait on an open connection, answer: the one way in which every edge lets a client wait for
 * its turn. It knows the broker only, so that the simulator tests what the HTTP edges run.
 */
import { standing } from "../core/decide/acquire.ts";
import type { Command } from "../core/model/command.ts";
import type { RequestId } from "../core/model/ids.ts";
import type { Outcome } from "../core/model/outcome.ts";
import type { Broker } from "./broker.ts";
import { newRequestId } from "./request-id.ts";

export type WaitingBroker = Pick<Broker, "now" | "submit" | "look" | "untilSettled">;

/** What a client may wait for: a new request, or one that it has made before. */
type WaitingCommand = Extract<Command, { type: "acquire" | "refresh" | "keep-waiting" }>;

export interface WaitOptions {
  /** Its signal, read only by those who wait, aborts when the client's connection closes. */
  readonly connection?: { readonly signal: AbortSignal };
  /** Whether the request leaves the queue after the command's `waitMs`; it stays unless told. */
  readonly whenTimedOut?: "stay" | "leave";
  readonly newId?: () => RequestId;
}

/**
 * The outcome of a command, for which the client waits up to the command's `waitMs`. When its
 * connection closes first, the request keeps its place for one ttl, so that the client can come back;
 * a new request without a key leaves the queue, because its client knows no id to come back with.
 */
export async function submitAndWait(
  broker: WaitingBroker,
  command: WaitingCommand,
  { connection, whenTimedOut = "stay", newId }: WaitOptions = {},
): Promise<Outcome> {
  const outcome = await broker.submit(command);
  const { waitMs } = command;
  if (outcome.type !== "waiting" || (waitMs === 0 && whenTimedOut === "stay")) return outcome;
  const { id, key } = outcome.request;
  const signal = connection?.signal;
  await broker.untilSettled(id, waitMs, { present: true, ...(signal && { signal }) });
  if (signal?.aborted) {
    // First the command that needs no journal: if leaving cannot be committed, the ttl ends it.
    await broker.submit({ type: "keep-waiting", id, waitMs: 0 });
    const canComeBack = command.type === "keep-waiting" || key !== undefined;
    if (canComeBack) return outcome; // Nobody reads it.
    return broker.submit({ type: "leave", id, why: "disconnected" });
  }
  const isPolled = command.type === "acquire" && command.ask.presenceMs !== undefined;
  if (whenTimedOut === "leave") {
    // A request that was granted in the last moment does not leave: the outcome is its lease.
    const left = await broker.submit({ type: "leave", id, why: "cancelled" });
    if (left.type !== "granted" || !isPolled) return left;
  } else if (!isPolled) {
    return requestStanding(broker, id);
  } else if (!(await broker.look(({ leases }) => leases.has(id)))) {
    return outcome;
  }
  // Only by asking again does the journal learn that the client of a polled lease was answered.
  const nextId = newId?.() ?? newRequestId(broker.now());
  return broker.submit({ ...command, id: nextId, waitMs: 0 });
}

/** For an onlooker, whose waiting does not keep the request alive. */
export async function watchRequest(
  broker: WaitingBroker,
  id: RequestId,
  waitMs: number,
  connection: { readonly signal: AbortSignal },
): Promise<Outcome> {
  const outcome = await requestStanding(broker, id);
  if (outcome.type !== "waiting" || waitMs === 0) return outcome;
  await broker.untilSettled(id, waitMs, { present: false, signal: connection.signal });
  return requestStanding(broker, id);
}

function requestStanding(broker: WaitingBroker, id: RequestId): Promise<Outcome> {
  return broker.look((state, now) => standing(state, id, now));
}
