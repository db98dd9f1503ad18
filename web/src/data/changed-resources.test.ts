import { expect, test } from "vitest";
import type { Resource } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { changedResources, replaceChanged } from "./changed-resources.ts";

const names = ["a-1", "a-2", "a-3"];
const known = names.map((name) => ({ name }));
const event = (type: string, facts: object = {}) =>
  ({ seq: 1, at: "", type, ...facts }) as FeedEvent;

const cases: Record<string, [events: FeedEvent[], want: readonly string[] | undefined]> = {
  "nothing in events of other pools": [
    [event("lease-granted", { claims: [{ resource: "b-1" }] })],
    [],
  ],
  "those that are granted": [
    [event("lease-granted", { claims: [{ resource: "a-2" }, { resource: "b-1" }] })],
    ["a-2"],
  ],
  "those that are released, each once": [
    [
      event("lease-ended", { back: [{ resource: "a-1" }, { resource: "a-2" }] }),
      event("claim-ended", { back: { resource: "a-2" } }),
    ],
    ["a-1", "a-2"],
  ],
  "one that an operator changes": [[event("resource-changed", { resource: "a-3" })], ["a-3"]],
  "one that was removed": [[event("resource-removed", { resource: "a-1" })], ["a-1"]],
  "one that moves away": [[event("resource-moved", { resource: "a-1", pool: "b" })], ["a-1"]],
  "all of them when one moves into the pool": [
    [event("resource-moved", { resource: "b-1", pool: "a" })],
    undefined,
  ],
  "all of them when one is added": [
    [event("resource-added", { resource: "a-4", pool: "a" })],
    undefined,
  ],
  "nothing when another pool grows": [
    [event("resource-added", { resource: "b-4", pool: "b" })],
    [],
  ],
  "all of them when their pool changes": [[event("pool-defined", { pool: "a" })], undefined],
  "all of them when their pool is removed": [[event("pool-removed", { pool: "a" })], undefined],
  "nothing when another pool changes": [[event("pool-defined", { pool: "b" })], []],
  "nothing in reports about their pool": [
    [event("pool-signalled", { pool: "a" }), event("pool-admitted", { pool: "a" })],
    [],
  ],
  "all of them after an unknown event": [[event("resource-polished", { of: "a" })], undefined],
};
test.each(Object.entries(cases))("changedResources() finds %s", (_, [events, want]) => {
  expect(changedResources("a", known, events)).toEqual(want);
});

test("changedResources() returns undefined if a query could not contain all names", () => {
  const long = Array.from({ length: 100 }, (_, at) => ({ name: `${"x".repeat(200)}-${at}` }));
  const back = long.map(({ name }) => ({ resource: name }));
  expect(changedResources("a", long, [event("lease-ended", { back })])).toBeUndefined();
});

test("replaceChanged() replaces what was read, drops what was removed and keeps the other objects", () => {
  const before = names.map((name) => ({ name, state: "free" }) as Resource);
  const anew = { name: "a-2", state: "busy" } as Resource;
  const after = replaceChanged(before, ["a-1", "a-2"], [anew]);
  expect(after).toEqual([anew, before[2]]);
  expect(after[1]).toBe(before[2]);
});
