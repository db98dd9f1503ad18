import type { ServerResponse } from "node:http";
import Type from "typebox";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import type { DurableEvent } from "../core/event.ts";
import type { Instant } from "../core/time.ts";
import { JournalPruned, type Recorded } from "../journal/journal.ts";
import { invalid } from "./problems.ts";
import { timestamp } from "./render.ts";
import type { App, Site } from "./site.ts";

/** A reader that falls so many bytes behind is cut off; it resumes where it was with its last id. */
const backlogBytesMax = 4 * 1024 * 1024;
const keepAliveMs = 15_000;

const Query = Type.Object(
  {
    after: Type.Optional(
      Type.String({ pattern: "^[0-9]{1,15}$", description: "Only events after this number" }),
    ),
  },
  { additionalProperties: false },
);

export function eventRoutes(app: App, site: Site): void {
  const open = new Set<ServerResponse>();
  app.addHook("preClose", async () => {
    for (const feed of open) feed.end();
  });
  const schema = {
    tags: ["events"],
    summary: "Everything that happens, as server-sent events",
    description:
      "Resumes after `Last-Event-ID`, or after the query's `after`; without either it starts now",
    querystring: Query,
    produces: ["text/event-stream"],
  };
  app.get("/v1/events", { schema }, async (request, reply) => {
    if (open.size >= limits.openFeedsMax) throw tooManyFeeds();
    const last = request.headers["last-event-id"] ?? request.query.after;
    const start = startOf(last, site.broker.head);
    const past = await pastFrom(site, start);
    reply.hijack();
    if (reply.raw.destroyed) return; // It hung up meanwhile, and will not say so again.
    reply.raw.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    open.add(reply.raw);
    reply.raw.once("close", () => open.delete(reply.raw));
    try {
      await feed(site, reply.raw, start, past);
    } catch (cause) {
      // It would be deaf from here on; cut off, it comes back and hears why.
      request.log.warn({ err: cause }, "an event feed was cut off");
      reply.raw.destroy();
    }
  });
}

interface Past {
  readonly first: IteratorResult<Recorded>;
  readonly rest: AsyncIterator<Recorded>;
}

/** Reads the first of what is past, to find out whether it is still there before promising it. */
async function pastFrom({ journal }: Site, start: number): Promise<Past> {
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

/** First what is past, from the journal; then what comes, as it is committed. */
async function feed(
  { broker, journal }: Site,
  out: ServerResponse,
  start: number,
  past: Past,
): Promise<void> {
  let sent = start;
  let live = false;
  const write = (recorded: Recorded): void => {
    const text = formatCommit(recorded, sent);
    sent = Math.max(sent, recorded.seq + recorded.events.length - 1);
    if (text !== "") out.write(text);
    if (out.writableLength > backlogBytesMax) out.destroy();
  };
  const stop = broker.listen({ committed: (recorded) => live && write(recorded) });
  const keepAlive = setInterval(() => out.write(": still here\n\n"), keepAliveMs).unref();
  out.once("close", () => {
    stop();
    clearInterval(keepAlive);
  });
  out.write("retry: 1000\n\n");
  let { first, rest } = past;
  while (!out.destroyed && !out.writableEnded) {
    for (let next = first; !next.done; next = await rest.next()) {
      write(next.value);
      if (out.writableNeedDrain) await drained(out);
      if (out.destroyed) return;
    }
    live = sent >= broker.head;
    if (live) return;
    rest = journal.read(sent)[Symbol.asyncIterator]();
    first = await rest.next();
  }
}

function drained(out: ServerResponse): Promise<void> {
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

function formatCommit({ seq, at, events }: Recorded, sent: number): string {
  let text = "";
  for (const [index, event] of events.entries()) {
    const number = seq + index;
    if (number <= sent) continue;
    const told = { seq: number, at: timestamp(at), ...withoutSecrets(event) };
    const data = JSON.stringify(told, withTimestamps);
    text += `id: ${number}\nevent: ${event.type}\ndata: ${data}\n\n`;
  }
  return text;
}

/** The journal counts milliseconds; on the wire times are RFC 3339, here as everywhere. */
function withTimestamps(key: string, value: unknown): unknown {
  const isInstant = key === "endsAt" || key === "heldUntil" || key === "restsUntil";
  return isInstant && typeof value === "number" ? timestamp(value as Instant) : value;
}

/** User data may be credentials: the feed names its keys only. A request id gets the token: see `Audience`. */
function withoutSecrets(event: DurableEvent): object {
  if ("ask" in event && event.ask?.key !== undefined) {
    const { key: _key, ...ask } = event.ask;
    return { ...event, ask };
  }
  if (event.type !== "resource-changed" || event.userData === undefined) return event;
  const { userData, ...rest } = event;
  return { ...rest, userDataKeys: Object.keys(userData) };
}

/** An id from the future starts now: the journal was replaced, and there is nothing to resume. */
function startOf(last: string | string[] | undefined, head: number): number {
  if (last === undefined || last === "") return head;
  if (typeof last !== "string" || !/^\d{1,15}$/.test(last)) {
    const told = `"${String(last).slice(0, 40)}" is not the number of an event`;
    throw invalid("Last-Event-ID", told, "Send the last id that you have seen");
  }
  return Math.min(Number(last), head);
}

function tooManyFeeds(): Problem {
  return new Problem({
    code: "too_many_feeds",
    status: 503,
    message: `Cannot open another feed: ${limits.openFeedsMax} are open`,
    hint: "Close one, or let several readers share one",
  });
}
