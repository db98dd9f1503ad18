import { expect, test } from "vitest";
import { FeedParser } from "./event-feed.ts";

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
