import type { ServerResponse } from "node:http";
import Type from "typebox";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import type { DurableEvent } from "../core/event.ts";
import type { Recorded } from "../journal/journal.ts";
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
  let open = 0;
  const schema = {
    tags: ["events"],
    summary: "Everything that happens, as server-sent events",
    description:
      "Resumes after `Last-Event-ID`, or after the query's `after`; without either it starts now",
    querystring: Query,
    produces: ["text/event-stream"],
  };
  app.get("/v1/events", { schema }, async (request, reply) => {
    if (open >= limits.openFeedsMax) throw tooManyFeeds();
    const start = startOf(request.headers["last-event-id"], request.query.after, site.broker.head);
    reply.hijack();
    reply.raw.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    open += 1;
    reply.raw.once("close", () => {
      open -= 1;
    });
    await feed(site, reply.raw, start);
  });
}

/** First what is past, from the journal; then what comes, as it is committed. */
async function feed({ broker, journal }: Site, out: ServerResponse, start: number): Promise<void> {
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
  while (!live && !out.destroyed) {
    const head = broker.head;
    for await (const recorded of journal.read(sent)) {
      write(recorded);
      if (out.writableNeedDrain) await drained(out);
      if (out.destroyed) return;
    }
    sent = Math.max(sent, Math.min(head, broker.head));
    live = sent >= broker.head;
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
    const data = JSON.stringify({ seq: number, at: timestamp(at), ...withoutSecrets(event) });
    text += `id: ${number}\nevent: ${event.type}\ndata: ${data}\n\n`;
  }
  return text;
}

/** User data may be credentials: the feed names its keys only. */
export function withoutSecrets(event: DurableEvent): object {
  if (event.type !== "resource-changed" || event.userData === undefined) return event;
  const { userData, ...rest } = event;
  return { ...rest, userDataKeys: Object.keys(userData) };
}

function startOf(
  header: string | string[] | undefined,
  after: string | undefined,
  head: number,
): number {
  const text = typeof header === "string" && header !== "" ? header : after;
  if (text === undefined) return head;
  if (!/^\d{1,15}$/.test(text)) {
    throw invalid(
      "Last-Event-ID",
      `"${text.slice(0, 40)}" is not the number of an event`,
      "Send the last id that you have seen",
    );
  }
  return Math.min(Number(text), head);
}

function tooManyFeeds(): Problem {
  return new Problem({
    code: "too_many_feeds",
    status: 503,
    message: `Cannot open another feed: ${limits.openFeedsMax} are open`,
    hint: "Close one, or let several readers share one",
  });
}
