import type { Writable } from "node:stream";
import Type from "typebox";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import type { DurableEvent } from "../core/model/event.ts";
import type { SpaceName } from "../core/model/ids.ts";
import { JournalPruned, type Recorded } from "../journal/journal.ts";
import { Turns } from "../journal/turns.ts";
import { callerOf, isStillAllowed } from "./authorize.ts";
import { callIdHeader } from "./call-id.ts";
import { CallerShares } from "./caller-shares.ts";
import { compressedFeed } from "./compressed-feed.ts";
import { acceptsGzip } from "./compression.ts";
import type { App, Context } from "./context.ts";
import { sendDigests } from "./event-digest.ts";
import { type LiveCommit, LiveEventHub, type LiveEvents } from "./live-events.ts";
import { invalid } from "./problems.ts";
import {
  type EventSight,
  eventSightOf,
  renderEvent,
  seesAll,
  sightOfOwner,
} from "./render/event.ts";
import { limitedTo } from "./sight.ts";

/**
 * A client with more unread bytes than this, or a commit with more events than this, is sent from
 * the journal and not from memory.
 */
const backlogBytesMax = 256 * 1024;
const liveEventsMax = 1_000;
const keepAliveMs = 15_000;
/** Past events are written together up to this length, because each write costs time. */
const writtenLength = 16_384;
/** The writes of past events in one turn of a feed. They take about a millisecond. */
const writesPerTurn = 4;
/** Feeds beyond these are not compressed, because each costs 50 kB and time for every write. */
const compressedFeedsMax = 100;
/** A write to a compressed feed takes about as long as this many other writes. */
const compressedWeight = 3;

const Query = Type.Object(
  {
    after: Type.Optional(
      Type.String({ pattern: "^[0-9]{1,15}$", description: "Only events after this number" }),
    ),
    digest: Type.Optional(
      Type.Literal("true", {
        description:
          "At most once a second one event `digest`, with the kinds and the number of new events, " +
          "instead of the events. Earlier ones are not counted",
      }),
    ),
  },
  { additionalProperties: false },
);

const feedHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  vary: "accept-encoding",
};

export function eventRoutes(app: App, context: Context): void {
  const open = new Set<Writable>();
  // Hundreds of feeds that resume together would otherwise delay all other calls by seconds.
  const turns = new Turns();
  const compressed = new Set<Writable>();
  const { openFeedsMax: max, feedsPerCallerMax: perCaller } = limits;
  const shares = new CallerShares(context.auth, { max, perCaller, refusal: tooManyFeeds });
  const hub = new LiveEventHub(context.broker, (commit, space) => {
    return [...formatLive(commit, 0, space)].join("");
  });
  app.addHook("preClose", async () => {
    hub.flush();
    for (const feed of open) feed.end();
  });
  const schema = {
    tags: ["events"],
    summary: "Everything that happens, as server-sent events",
    description:
      "Resumes after `Last-Event-ID`, or after the query's `after`; without either it starts now",
    querystring: Query,
    produces: ["text/event-stream"],
    response: {
      200: {
        description: "One event after the other",
        content: { "text/event-stream": { schema: { type: "string" } } },
      },
    },
  };
  app.get("/v1/events", { schema }, async (request, reply) => {
    // A feed without a body would never end.
    if (request.method === "HEAD") return reply.headers(feedHeaders).send();
    const share = shares.take(request);
    reply.raw.once("close", () => share[Symbol.dispose]());
    if (reply.raw.closed) share[Symbol.dispose](); // No `close` will come.
    const { after } = request.query;
    const digest = request.query.digest === "true";
    const last = digest ? undefined : (request.headers["last-event-id"] ?? after);
    const start = startOf(last, context.broker.head);
    const past = digest ? undefined : await turns.run(() => pastFrom(context, start));
    reply.hijack();
    if (reply.raw.destroyed) return reply; // No `close` will come.
    const isCompressed = acceptsGzip(request) && compressed.size < compressedFeedsMax;
    const encoding = isCompressed ? { "content-encoding": "gzip" } : undefined;
    reply.raw.shouldKeepAlive = false; // A feed ends when the server stops.
    reply.raw.writeHead(200, { ...feedHeaders, ...encoding, [callIdHeader]: request.id });
    const out = isCompressed ? compressedFeed(reply.raw) : reply.raw;
    for (const feeds of isCompressed ? [open, compressed] : [open]) {
      feeds.add(out);
      out.once("close", () => feeds.delete(out));
    }
    try {
      const weight = isCompressed ? compressedWeight : 1;
      const space = limitedTo(callerOf(request));
      const isAllowed = () => isStillAllowed(context, request, "read");
      keepOpen(out, isAllowed);
      out.write("retry: 1000\n\n");
      if (past === undefined) out.once("close", sendDigests(hub, out, weight));
      else await feed(context, hub, out, { start, past, turns, weight, space, isAllowed });
    } catch (cause) {
      // The client would stay connected and get no events. Now it reconnects and gets the error.
      request.log.warn({ err: cause, callId: request.id }, "closed an event feed after an error");
      out.destroy();
    }
    return reply;
  });
}

interface FeedOptions {
  readonly start: number;
  readonly past: Past;
  readonly turns: Turns;
  readonly weight: number;
  /** Undefined: the caller sees all spaces. */
  readonly space: SpaceName | undefined;
  /** Whether the credentials are still valid. */
  readonly isAllowed: () => Promise<boolean>;
}

interface Past {
  readonly first: IteratorResult<Recorded>;
  readonly rest: AsyncIterator<Recorded>;
}

/** Reads the first past commit before the reply starts, so that pruned events get a 410. */
async function pastFrom({ journal }: Context, start: number): Promise<Past> {
  const rest = journal.read(start)[Symbol.asyncIterator]();
  try {
    return { first: await rest.next(), rest };
  } catch (cause) {
    if (!(cause instanceof JournalPruned)) throw cause;
    throw new Problem({
      code: "events_pruned",
      status: 410,
      message: `Cannot resume after event ${start}: the events that follow are no longer kept`,
      hint: "Read the present state, then follow from now on without Last-Event-ID",
    });
  }
}

/**
 * Sends past events from the journal, as fast as the client reads, then new ones as committed. A
 * reader that falls behind goes back to the journal, so that it costs no memory and misses nothing.
 */
async function feed(
  { auth, broker, journal }: Context,
  hub: LiveEventHub,
  out: Writable,
  { start, past, turns, weight, space, isAllowed }: FeedOptions,
): Promise<void> {
  let sent = start;
  let behind = true;
  let checked = auth.revision;
  const sightNow = (only: SpaceName) => broker.read((state) => eventSightOf(state, only));
  const isOpen = () => !out.destroyed && !out.writableEnded;
  const write = (events: LiveEvents): void => {
    if (sent >= events.lastSeq) return;
    if (sent < events.firstSeq) out.write(events.bytes(space));
    else for (const text of formatAfter(sent, events, space)) out.write(text);
    sent = events.lastSeq;
  };
  const catchUp = async (past: Past) => {
    const texts = inChunks(async function* () {
      for (let next = past.first; !next.done; next = await past.rest.next()) {
        const sees = space === undefined ? seesAll : await sightNow(space);
        const { seq, at, events } = next.value;
        yield* formatCommit(next.value, sent, (event) => sees(event, at));
        sent = seq + events.length - 1;
      }
    });
    while (isOpen() && (await turns.run(() => writeSome(texts, out)))) {
      if (out.writableNeedDrain) await drained(out);
    }
  };
  const pull = async (): Promise<void> => {
    while (behind && isOpen()) {
      const rest = journal.read(sent)[Symbol.asyncIterator]();
      await catchUp({ first: await turns.run(() => rest.next()), rest });
      behind = sent < broker.head;
    }
  };
  const endUnlessAllowed = async (): Promise<void> => {
    if (isOpen() && !(await isAllowed())) out.end();
  };
  const stop = hub.add((events) => {
    if (behind || !isOpen()) return;
    if (checked !== auth.revision) {
      // The token may have been removed, or have another role. What it sees next is read afterwards.
      [checked, behind] = [auth.revision, true];
      endUnlessAllowed()
        .then(pull)
        .catch(() => out.destroy());
      return;
    }
    const count = events.lastSeq - Math.max(sent, events.firstSeq - 1);
    behind = out.writableLength > backlogBytesMax || count > liveEventsMax;
    if (behind) pull().catch(() => out.destroy());
    else write(events);
  }, weight);
  out.once("close", stop);
  await catchUp(past);
  await pull();
}

/** A feed may stay open for longer than its token is valid. */
function keepOpen(out: Writable, isAllowed: () => Promise<boolean>): void {
  const isOpen = () => !out.destroyed && !out.writableEnded;
  const look = async (): Promise<void> => {
    if (isOpen() && !(await isAllowed())) out.end();
    if (isOpen()) out.write(": still here\n\n");
  };
  const timer = setInterval(() => void look(), keepAliveMs).unref();
  out.once("close", () => clearInterval(timer));
}

function drained(out: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      out.removeListener("drain", go);
      out.removeListener("close", go);
      resolve();
    };
    out.once("drain", go);
    out.once("close", go);
  });
}

/** Writes until the client must read, or its turn ends. Returns false if there is no more to write. */
async function writeSome(texts: AsyncIterator<string>, out: Writable): Promise<boolean> {
  for (let writes = 0; writes < writesPerTurn && !out.writableNeedDrain; writes++) {
    const next = await texts.next();
    if (next.done || out.destroyed || out.writableEnded) return false;
    out.write(next.value);
  }
  return true;
}

async function* inChunks(texts: () => AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const text of texts()) {
    chunk += text;
    if (chunk.length < writtenLength) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** For a feed that has caught up in the middle of these events. */
function* formatAfter(
  sent: number,
  { commits }: LiveEvents,
  space: SpaceName | undefined,
): Generator<string> {
  for (const commit of commits) yield* formatLive(commit, sent, space);
}

function formatLive(
  commit: LiveCommit,
  sent: number,
  space: SpaceName | undefined,
): Generator<string> {
  const { owners } = commit;
  return formatCommit(commit, sent, (_, index) => sightOfOwner(owners[index], space));
}

function* formatCommit(
  { seq, at, events }: Recorded,
  sent: number,
  sightOf: (event: DurableEvent, index: number) => ReturnType<EventSight>,
): Generator<string> {
  for (const [index, event] of events.entries()) {
    const number = seq + index;
    if (number <= sent) continue;
    const data = renderEvent({ seq: number, at, event }, () => sightOf(event, index));
    yield `id: ${number}\nevent: ${event.type}\ndata: ${data}\n\n`;
  }
}

/** A number beyond the last event means that the journal was replaced: the feed starts now. */
function startOf(last: string | string[] | undefined, head: number): number {
  if (last === undefined || last === "") return head;
  if (typeof last !== "string" || !/^\d{1,15}$/.test(last)) {
    const wrong = `"${String(last).slice(0, 40)}" is not the number of an event`;
    throw invalid("Last-Event-ID", wrong, "Send the last id that you have seen");
  }
  return Math.min(Number(last), head);
}

function tooManyFeeds(count: number, whose: "yours" | "all"): Problem {
  return new Problem({
    code: "too_many_feeds",
    status: 503,
    message: `Cannot open another feed: ${count}${whose === "yours" ? " of yours" : ""} are open`,
    hint: "Close one, or let several readers share one",
  });
}
