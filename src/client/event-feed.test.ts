import { expect, test, vi } from "vitest";
import { FeedParser, FeedSilent, followEvents } from "./event-feed.ts";
import { clientLimits } from "./limits.ts";
import { Transport } from "./transport.ts";

const text =
  ': hello\n\nid: 1\nevent: t\ndata: {"seq":1,"at":"x","type":"ü"}\n\n' +
  'retry: 1000\n\r\nid: 2\r\ndata:{"seq":2,"at":"x","type":"t"}\r\n\r\n';

test.each([1, 2, 3, 7, 1_000])("FeedParser reads events that come %i bytes at a time", (size) => {
  const bytes = new TextEncoder().encode(text);
  const parser = new FeedParser();
  const events = [];
  for (let at = 0; at < bytes.length; at += size) {
    events.push(...parser.read(bytes.slice(at, at + size)));
  }
  expect(events.map(({ seq, type }) => [seq, type])).toEqual([
    [1, "ü"],
    [2, "t"],
  ]);
});

test("FeedParser refuses a line that does not end", () => {
  const parser = new FeedParser();
  const endless = new TextEncoder().encode("x".repeat(1024 * 1024 + 1));
  expect(() => [...parser.read(endless)]).toThrow("a line does not end");
});

test("a feed on which nothing comes for long is lost, and tried again", async () => {
  vi.useFakeTimers();
  const stop = new AbortController();
  try {
    const silent: typeof fetch = async (_, init) => {
      const body = new ReadableStream({
        start: (stream) =>
          init?.signal?.addEventListener("abort", () => stream.error(init.signal?.reason)),
      });
      return new Response(body);
    };
    const errors: unknown[] = [];
    const feed = followEvents(new Transport("http://berth.test", silent), {
      signal: stop.signal,
      onRetry: (error) => errors.push(error),
    });
    const next = feed.next();
    await vi.advanceTimersByTimeAsync(clientLimits.feedSilenceMs - 1);
    expect(errors).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(errors).toEqual([expect.any(FeedSilent)]);
    expect(String(errors[0])).toContain("the event feed was silent for 40s");
    stop.abort();
    await vi.runAllTimersAsync();
    expect(await next).toMatchObject({ done: true });
  } finally {
    vi.useRealTimers();
  }
});
