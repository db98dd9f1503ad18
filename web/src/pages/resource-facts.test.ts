import { expect, test } from "vitest";
import type { Resource } from "../../../src/api/schemas.ts";
import {
  canBeCleaned,
  canBeFreed,
  effectOfDrain,
  groupsBySaid,
  lastLine,
  quarantineOf,
  usedPart,
  usualIfLong,
} from "./resource-facts.ts";

const resource: Resource = {
  ...{ name: "hv-1", pool: "hv", state: "free", drained: false, retiring: false, note: "" },
  ...{ changedAt: "2030-01-01T00:00:00.000Z", restsUntil: null, dynamic: false, expiresAt: null },
  ...{ failures: 0, labels: {}, userDataKeys: [], lease: null },
};
const share = { id: "l1", holder: "vm", since: resource.changedAt, amount: { vcpus: 1 } };
const lease = { id: "l1", holder: "ci", since: resource.changedAt, endsAt: null, fence: 1 };

test.each<[string, Partial<Resource>, boolean]>([
  ["a free one", {}, false],
  ["a drained one", { drained: true, state: "drained" }, false],
  ["a dirty one", { state: "dirty" }, true],
  ["a cluster that sleeps", { state: "hibernated", cluster: true }, false],
  ["a held one", { state: "busy", lease }, false],
  ["a shared one with holders", { state: "busy", shares: [share] }, false],
  ["a shared one without holders", { state: "quarantined", shares: [] }, true],
])("canBeFreed() of %s is what the server accepts", (_, facts, expected) => {
  expect(canBeFreed({ ...resource, ...facts })).toBe(expected);
});

test.each<[Partial<Resource>, string]>([
  [{}, "hv-1 is not lent again until somebody undrains it."],
  [
    { lease },
    "ci keeps hv-1 until it releases it. Then it is not lent again until somebody undrains it.",
  ],
  [
    { shares: [share] },
    "The lease on hv-1 keeps what it holds until it releases it. It gets no new ones until somebody undrains it.",
  ],
  [
    { shares: [share, share] },
    "The 2 leases on hv-1 keep what they hold until they release it. It gets no new ones until somebody undrains it.",
  ],
])("effectOfDrain() of %j says who keeps it", (facts, text) => {
  expect(effectOfDrain({ ...resource, ...facts })).toBe(text);
});

const at = resource.changedAt;
const byHand = { seq: 3, at, type: "resource-changed", state: "quarantined" };
const byCleaner = {
  ...{ seq: 2, at, type: "lease-ended", id: "c1", holder: "janitor" },
  back: [
    { resource: "hv-2", state: "free" },
    { resource: "hv-1", state: "quarantined" },
  ],
};

test.each([
  [
    "somebody by hand",
    [{ ...byHand, reason: { by: "ann", why: "new disk" } }, byCleaner],
    { at, by: "ann", why: "new disk" },
  ],
  ["nobody that is known", [byHand], { at, by: "", why: "" }],
  [
    "a cleaner",
    [{ ...byHand, state: undefined, note: "seen" }, byCleaner],
    { at, by: "janitor", why: "", lease: "c1" },
  ],
  [
    "a claim that ended alone",
    [{ ...byCleaner, type: "claim-ended", back: byCleaner.back[1] }],
    { at, by: "janitor", why: "", lease: "c1" },
  ],
  ["older events", [{ seq: 1, at, type: "lease-granted", id: "l1" }], undefined],
])("quarantineOf() finds who did it: %s", (_, events, want) => {
  expect(quarantineOf("hv-1", events)).toEqual(want);
});

test("groupsBySaid() has what is said of several resources once", () => {
  const noted = (note: string) => ({ note });
  const [a, b, c, d] = [noted("disk"), noted("net"), noted(""), noted("two\nlines")];
  const drained = { note: "", drainedBy: { by: "ann", why: "new disk" } };
  expect(groupsBySaid([drained, drained, drained])).toEqual([
    { name: "By ann: new disk", rows: [drained, drained, drained] },
  ]);
  expect(groupsBySaid([a, b, a, c, d, d, d, c, c])).toEqual([
    { name: "disk", rows: [a, a] },
    { name: "", rows: [b, c, d, d, d, c, c] },
  ]);
});

test("groupsBySaid() begins with the first resource, which is the oldest", () => {
  const [oldest, ...fresh] = [{ note: "old" }, ...["1", "2", "3"].map(() => ({ note: "disk" }))];
  if (oldest === undefined) throw new Error("there is one");
  expect(groupsBySaid([oldest, ...fresh]).map(({ name }) => name)).toEqual(["", "disk"]);
});

const cleanings = { p50: 2, p90: 3 };

test.each([
  ["as long as others", 2, cleanings, undefined],
  ["longer, but nobody has noticed yet", 29, cleanings, undefined],
  ["much longer", 31, cleanings, 2],
  ["long, as the others", 80, { p50: 20, p90: 30 }, undefined],
  ["much longer than long others", 91, { p50: 20, p90: 30 }, 20],
  ["nobody knows the others", 900, null, undefined],
])("usualIfLong() of a cleaning that takes %s", (_, seconds, times, want) => {
  const nowMs = Date.parse(resource.changedAt) + seconds * 1_000;
  expect(usualIfLong({ ...resource, state: "cleaning" }, times, nowMs)).toBe(want);
  expect(usualIfLong(resource, times, nowMs)).toBeUndefined();
});

test("usedPart() is that of the fullest dimension", () => {
  const usage = [
    { dimension: "vcpus", capacity: 96, used: 24, reserved: 0 },
    { dimension: "memory", capacity: 512, used: 256, reserved: 0 },
  ];
  expect(usedPart({ usage })).toBe(0.5);
  expect(usedPart({})).toBeUndefined();
});

test.each([
  ["The command exited with 1\nVolumeInUse: it is attached\n", "VolumeInUse: it is attached"],
  ["cleaner: timed out", "cleaner: timed out"],
  ["", ""],
])("lastLine() of %j", (note, want) => expect(lastLine(note)).toBe(want));

test.each([
  ["that a cleaner gave up", { state: "quarantined", failures: 2 }, true],
  ["that somebody quarantined", { state: "quarantined" }, false],
  ["that is dirty after a failure", { state: "dirty", failures: 1 }, false],
  ["that is drained", { state: "quarantined", failures: 2, drained: true }, false],
])("canBeCleaned() of one %s", (_, has, want) => {
  expect(canBeCleaned({ ...resource, ...has })).toBe(want);
});
