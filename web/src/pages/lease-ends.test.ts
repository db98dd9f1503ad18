import { expect, test } from "vitest";
import type { Lease } from "../../../src/api/schemas.ts";
import {
  endOf,
  hasBeaten,
  inLeaseOrder,
  nextBeatWords,
  pulseOf,
  silenceAt,
  silentWords,
} from "./lease-ends.ts";

const minute = (count: number) => new Date(Date.UTC(2030, 0, 1, 12, count)).toISOString();
const claim = (heldUntil: string | null) => ({ heldUntil }) as Lease["claims"][number];
const plain = {
  grantedAt: minute(0),
  endsAt: null,
  expiresAt: minute(13),
  revokedAt: null,
  claims: [claim(null)],
  ttl: "10m",
};

test.each([
  ["nothing but silence", {}, null],
  ["its max lifetime", { endsAt: minute(30) }, [30, "max lifetime"]],
  [
    "the first of two claims",
    { endsAt: minute(30), claims: [claim(minute(20)), claim(minute(9))] },
    [9, "auto-release"],
  ],
  [
    "its pool",
    { endsAt: minute(30), notice: { endsBy: minute(5), reason: "" } },
    [5, "taken back"],
  ],
  ["an operator", { endsAt: minute(1), revokedAt: minute(4) }, [13, "ended by an operator"]],
] as const)("endOf() finds what ends it: %s", (_, changes, want) => {
  const end = endOf({ ...plain, ...changes } as typeof plain);
  if (want === null) expect(end).toBeNull();
  else expect([end?.at, end?.why]).toEqual([minute(want[0]), want[1]]);
});

test("silenceAt() is the part of the heartbeat timeout that is over", () => {
  const at = (count: number) => silenceAt(pulseOf(plain), Date.parse(minute(count)));
  expect([at(2), at(3), at(8), at(13), at(20)]).toEqual([0, 0, 0.5, 1, 1]);
  // Nobody expects a heartbeat of these.
  expect(pulseOf({ ...plain, ttl: null, expiresAt: null })).toBeNull();
  expect(pulseOf({ ...plain, revokedAt: minute(4) })).toBeNull();
});

test.each([
  ["", "abc"],
  ["newest", "cba"],
  ["ends", "cba"],
  ["silent", "bac"],
  ["unheard of", "abc"],
])("inLeaseOrder() by %j: %s", (order, want) => {
  const leases = [
    { ...plain, id: "c", grantedAt: minute(2), endsAt: minute(20), ttl: null, expiresAt: null },
    { ...plain, id: "a" },
    { ...plain, id: "b", grantedAt: minute(1), endsAt: minute(30), expiresAt: minute(12) },
  ];
  const ids = inLeaseOrder(leases, order, Date.parse(minute(10))).map(({ id }) => id);
  expect(ids.join("")).toBe(want);
});

test("nextBeatWords() has one form for all leases", () => {
  const pulse = { lastMs: Date.parse(minute(0)), ttlMs: 120_000 };
  const words = (seconds: number, ttlMs = pulse.ttlMs) =>
    nextBeatWords({ ...pulse, ttlMs }, pulse.lastMs + seconds * 1_000);
  expect(words(2)).toBe("due in 38s");
  expect(words(41)).toBe("due now");
  expect(words(60)).toBe("one missed");
  expect(words(100)).toBe("two missed");
  expect(words(100, 10 * 365 * 86_400_000)).toBe("without timeout");
  expect(hasBeaten(pulse, minute(0))).toBe(false);
  expect(hasBeaten({ ...pulse, lastMs: Date.parse(minute(3)) }, minute(0))).toBe(true);
});

test.each([
  [0, 0, "nobody misses heartbeats"],
  [0, 3, "3 missed one heartbeat"],
  [2, 0, "missed two heartbeats"],
  [2, 1_200, "missed two heartbeats; 1,200 missed one"],
])("silentWords() of %i silent and %i that missed one", (silent, missed, want) => {
  expect(silentWords(silent, missed)).toBe(want);
});
