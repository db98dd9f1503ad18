/**
 * A feed that tells only which kinds of events happened, at most once a second. A page with 240 busy pools
 * reads what has changed anyway; all events of such a server would be 25 MB an hour for nothing.
 */
import type { Writable } from "node:stream";
import type { Instant } from "../core/model/time.ts";
import type { LiveEventHub, LiveEvents } from "./live-events.ts";
import { timestamp } from "./timestamp.ts";

const everyMs = 1_000;
/** After a quiet time the first events are told sooner. */
const soonMs = 50;

/** Returns a function that ends it. Nothing is sent about what happened before. */
export function sendDigests(hub: LiveEventHub, out: Writable, weight: number): () => void {
  const types = new Set<string>();
  let last: { readonly seq: number; readonly at: Instant } | undefined;
  let count = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const send = () => {
    timer = undefined;
    if (last === undefined || out.destroyed || out.writableEnded) return;
    sentAt = performance.now();
    const { seq, at } = last;
    const data = { seq, at: timestamp(at), type: "digest", count, types: [...types] };
    out.write(`id: ${seq}\nevent: digest\ndata: ${JSON.stringify(data)}\n\n`);
    types.clear();
    count = 0;
  };
  const remove = hub.add((events: LiveEvents) => {
    for (const { events: all, at } of events.commits) {
      for (const { type } of all) types.add(type);
      count += all.length;
      last = { seq: events.lastSeq, at };
    }
    timer ??= setTimeout(send, Math.max(soonMs, sentAt + everyMs - performance.now())).unref();
  }, weight);
  return () => {
    remove();
    clearTimeout(timer);
  };
}
