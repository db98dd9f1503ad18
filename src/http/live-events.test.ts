import { expect, test } from "vitest";
import type { BrokerListener } from "../broker/broker-contract.ts";
import { emptyState } from "../core/apply/create.ts";
import { at, left } from "../journal/journal.suite.ts";
import type { Recorded } from "../journal/journal.ts";
import { LiveEventHub, type LiveEvents } from "./live-events.ts";

/** A hub whose commits the test makes. */
function makeHub() {
  const listeners: BrokerListener[] = [];
  const formatted: number[] = [];
  const broker = {
    listen(listener: BrokerListener) {
      listeners.push(listener);
      return () => {};
    },
  };
  const hub = new LiveEventHub(broker, ({ seq }) => {
    formatted.push(seq);
    return `${seq};`;
  });
  const commit = (seq: number, count = 1) => {
    const events = Array.from({ length: count }, () => left(seq));
    const recorded: Recorded = { seq, at: at(1), events };
    for (const { committed } of listeners) committed?.(recorded, emptyState());
  };
  return { hub, formatted, commit };
}

test("a commit is formatted once for all feeds", () => {
  const { hub, formatted, commit } = makeHub();
  const got: Buffer[] = [];
  for (let feed = 0; feed < 9; feed++) hub.add(({ bytes }) => got.push(bytes()));
  commit(7);
  expect(got).toHaveLength(9);
  expect(new Set(got).size).toBe(1);
  expect([String(got[0]), formatted]).toEqual(["7;", [7]]);
});

test("many feeds get the commits of a short time together, in order", async () => {
  const { hub, commit } = makeHub();
  const got: LiveEvents[] = [];
  const done = Promise.withResolvers<void>();
  for (let feed = 0; feed < 20; feed++) {
    hub.add((events) => {
      got.push(events);
      if (got.length === 20) done.resolve();
    });
  }
  const keepAlive = setInterval(() => {}, 1_000);
  commit(1, 2);
  commit(3);
  expect(got).toEqual([]);
  await done.promise;
  clearInterval(keepAlive);
  expect(got).toHaveLength(20);
  expect(got[0]).toMatchObject({ firstSeq: 1, lastSeq: 3 });
  expect(String(got[0]?.bytes())).toBe("1;3;");
});

test("flush() passes on what waits, and nothing twice", () => {
  const { hub, commit } = makeHub();
  const got: number[] = [];
  for (let feed = 0; feed < 20; feed++) hub.add(({ lastSeq }) => got.push(lastSeq));
  commit(1);
  hub.flush();
  hub.flush();
  expect(got).toEqual(Array(20).fill(1));
});
