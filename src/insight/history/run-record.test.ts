import { expect, onTestFinished, test } from "vitest";
import { HistoryFold } from "./fold.ts";
import { HistoryReader } from "./reader.ts";
import { RunRecord } from "./run-record.ts";
import { HistoryStore } from "./store.ts";

function emptyHistory() {
  const store = HistoryStore.inMemory();
  onTestFinished(() => store.close());
  const reader = new HistoryReader(store.database);
  const outages = (from = 0, to = 1_000) => reader.stats({ from, to, stepMs: to - from }).outages;
  return { store, outages };
}

test("a run that begins after another one leaves the time between them", () => {
  const { store, outages } = emptyHistory();
  let now = 100;
  const first = new RunRecord(store, () => now);
  expect(outages(), "nobody knows of a run before the first one").toEqual([]);
  now = 200;
  first.close();
  now = 350;
  new RunRecord(store, () => now).close();
  const between = { what: "server", name: null, from: 200, to: 350 };
  expect(outages()).toEqual([between]);
  expect(outages(360, 1_000)).toEqual([]);
  expect(outages(340, 1_000)).toEqual([between]);
  now = 300; // The clock was set back.
  new RunRecord(store, () => now).close();
  expect(outages().at(-1)).toEqual({ ...between, from: 300, to: 300 });
  store.forget(301);
  expect(outages()).toEqual([between]);
});

test("a journal that could not be written is recorded when it can be again", () => {
  const { store, outages } = emptyHistory();
  let now = 100;
  const record = new RunRecord(store, () => now);
  onTestFinished(() => record.close());
  record.journal(true);
  record.journal(false);
  now = 150;
  record.journal(false);
  now = 180;
  record.journal(true);
  record.journal(true);
  expect(outages()).toEqual([{ what: "journal", name: null, from: 100, to: 180 }]);
});

test("a hub that does not answer is away from its first failed probe to the next answer", () => {
  const { store, outages } = emptyHistory();
  const fold = new HistoryFold();
  let seq = 0;
  const probed = (at: number, error: string | null | undefined) => {
    const event = { type: "hub-probed", name: "east", ...(error !== undefined && { error }) };
    seq += 1;
    fold.follow({ seq, at, events: [event] } as never);
    store.save(seq, fold.take(), fold.open);
  };
  probed(100, "it refuses connections");
  probed(110, "it does not answer");
  expect(outages()).toEqual([{ what: "hub", name: "east", from: 100, to: null }]);
  probed(120, undefined);
  probed(130, null);
  expect(outages()).toEqual([{ what: "hub", name: "east", from: 100, to: 130 }]);
});
