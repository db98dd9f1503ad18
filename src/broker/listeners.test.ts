import { describe, expect, test } from "vitest";
import { emptyState } from "../core/apply/create.ts";
import type { Instant } from "../core/model/time.ts";
import { MemoryJournal } from "../journal/memory.ts";
import type { BrokerListener } from "./broker-contract.ts";
import { Listeners } from "./waiters.ts";

const pruneLimits = { before: 0 as Instant, bytesMax: 1_000 };
const isOpen = () => true;

class PrunedJournal extends MemoryJournal {
  pruneCount = 0;
  pruneFails: Error | undefined;

  override async prune(until: Instant): Promise<number> {
    this.pruneCount += 1;
    if (this.pruneFails !== undefined) throw this.pruneFails;
    return await super.prune(until);
  }
}

function listenersOf(...all: BrokerListener[]) {
  const listeners = new Listeners();
  const failed: [string, unknown][] = [];
  for (const listener of all) listeners.add(listener);
  listeners.add({ failed: (what, cause) => failed.push([what, cause]) });
  return { listeners, failed, journal: new PrunedJournal("secret") };
}

const bug = new Error("a bug of the listener");
const throwBug = () => {
  throw bug;
};

describe("a listener that throws", () => {
  test.each<[string, BrokerListener, (listeners: Listeners) => void]>([
    [
      "committed",
      { committed: throwBug },
      (all) => all.committed({ seq: 1, at: pruneLimits.before, events: [] }, emptyState()),
    ],
    ["writable", { writable: throwBug }, (all) => all.writable(null)],
    ["fatal", { fatal: throwBug }, (all) => all.fatal(new Error("conflict"))],
  ])("in %s does not stop the others, and is reported", (name, throwing, notify) => {
    const called: string[] = [];
    const { listeners, failed } = listenersOf(throwing, { [name]: () => called.push(name) });
    notify(listeners);
    expect([called, failed]).toEqual([[name], [["a listener of the broker", bug]]]);
  });

  test("in failed does not stop the others", () => {
    const { listeners, failed } = listenersOf({ failed: throwBug });
    listeners.failed("a test", bug);
    expect(failed).toEqual([["a test", bug]]);
  });
});

describe("pruneBehind()", () => {
  test("prunes again after a failure, even if a listener throws in failed", async () => {
    const { listeners, failed, journal } = listenersOf({ failed: throwBug });
    journal.pruneFails = new Error("the disk is full");
    await listeners.pruneBehind(journal, pruneLimits, isOpen);
    expect(failed).toEqual([["pruning the journal", journal.pruneFails]]);
    journal.pruneFails = undefined;
    await listeners.pruneBehind(journal, pruneLimits, isOpen);
    expect(journal.pruneCount).toBe(2);
  });

  test("reports that a listener does not catch up, and prunes once it has", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { listeners, failed, journal } = listenersOf({ caughtUp: () => promise });
    const first = listeners.pruneBehind(journal, pruneLimits, isOpen);
    await listeners.pruneBehind(journal, pruneLimits, isOpen);
    expect(failed).toMatchObject([
      ["pruning the journal", { message: expect.stringContaining("not caught up") }],
    ]);
    expect(journal.pruneCount).toBe(0);
    resolve();
    await first;
    expect(journal.pruneCount).toBe(1);
  });

  test("does not prune the journal of a broker that has closed", async () => {
    const { listeners, journal } = listenersOf();
    await listeners.pruneBehind(journal, pruneLimits, () => false);
    expect(journal.pruneCount).toBe(0);
  });
});
