import { Problem } from "../api/problem.ts";
import { formatDuration } from "../core/model/time.ts";
import { BerthUnreachable } from "./errors.ts";
import { clientLimits } from "./limits.ts";
import { LinkedAbort } from "./linked-abort.ts";
import { unreachable } from "./network-errors.ts";
import { pause, pauseMs } from "./pause.ts";
import type { Transport } from "./transport.ts";

/** Nothing came for a time, although the connection seems to be open. */
export class FeedSilent extends BerthUnreachable {
  readonly silentMs = clientLimits.feedSilenceMs;

  constructor(url: string, cause: unknown) {
    const time = formatDuration(clientLimits.feedSilenceMs);
    super(url, `the event feed was silent for ${time}`, cause);
  }
}

/** One event of the feed. The other fields depend on `type`. */
export interface FeedEvent {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly [fact: string]: unknown;
}

export interface FollowOptions {
  /** Ends the feed. */
  readonly signal?: AbortSignal | undefined;
  /** Starts after this event. Default: only new events. */
  readonly after?: number | undefined;
  /** Only which kinds of events happen, at most once a second, as events of the type `digest`. */
  readonly digest?: boolean | undefined;
  /** Called for each new connection. Read the state then; the feed has no earlier events. */
  readonly onOpen?: (() => void) | undefined;
  /** Called each time that a connection is lost or refused, before the retry. */
  readonly onRetry?: ((error: BerthUnreachable | Problem) => void) | undefined;
}

/** Yields every event once and in order, across reconnects. Ends only when the signal aborts. */
export async function* followEvents(
  transport: Transport,
  options: FollowOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  const { signal, onRetry } = options;
  let after = options.after;
  for (let failures = 0; !signal?.aborted; failures++) {
    try {
      for await (const event of readConnection(transport, after, options)) {
        failures = 0;
        after = event.seq;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof Problem && error.status < 500) throw error;
      const lost = error instanceof Problem || error instanceof BerthUnreachable;
      onRetry?.(lost ? error : unreachable(transport.url, error));
    }
    await pause(pauseMs(failures), signal).catch(() => {});
  }
}

async function* readConnection(
  transport: Transport,
  after: number | undefined,
  { signal, onOpen, digest }: FollowOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  const silent = new LinkedAbort(signal);
  const listen = () => setTimeout(() => silent.abort(), clientLimits.feedSilenceMs);
  let timer = listen();
  try {
    const response = await transport.open(
      { method: "GET", path: ["v1", "events"], ...(digest && { query: { digest: true } }) },
      silent.signal,
      {
        accept: "text/event-stream",
        ...(after === undefined ? undefined : { "last-event-id": String(after) }),
      },
    );
    if (!response.ok || response.body === null) {
      throw Problem.from(response.status, await response.json().catch(() => undefined));
    }
    onOpen?.();
    const parser = new FeedParser();
    for await (const bytes of response.body) {
      clearTimeout(timer);
      timer = listen();
      yield* parser.read(bytes);
    }
    throw new BerthUnreachable(transport.url, "the event feed was closed");
  } catch (error) {
    const isSilent = silent.signal.aborted && !signal?.aborted;
    throw isSilent ? new FeedSilent(transport.url, error) : error;
  } finally {
    clearTimeout(timer);
    silent.unlink();
  }
}

/** Parses the part of server-sent events that this feed uses: each event is one line of JSON. */
export class FeedParser {
  readonly #decoder = new TextDecoder();
  #rest = "";

  *read(bytes: Uint8Array): Generator<FeedEvent, void, undefined> {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const lines = this.#rest.split(/\r\n|\n/);
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > clientLimits.feedLineLengthMax) {
      throw new Error("Cannot read the event feed: a line does not end");
    }
    for (const line of lines) {
      const event = line.startsWith("data:") ? eventOf(line.slice("data:".length)) : undefined;
      if (event !== undefined) yield event;
    }
  }
}

function eventOf(json: string): FeedEvent | undefined {
  const value: unknown = JSON.parse(json);
  return isFeedEvent(value) ? value : undefined;
}

function isFeedEvent(value: unknown): value is FeedEvent {
  if (typeof value !== "object" || value === null) return false;
  return "seq" in value && typeof value.seq === "number" && "type" in value;
}
