import { expect, test } from "vitest";
import type { Lease } from "../../../src/api/schemas.ts";
import {
  backOf,
  endOf,
  expiryBefore,
  expiryOf,
  hasBeaten,
  inLeaseOrder,
  missedBeats,
  nextBeatWords,
  pulseOf,
  silenceAt,
  silentWords,
} from "./lease-ends.ts";

const minute = (count: number) => new Date(Date.UTC(2030, 0, 1, 12, count)).toISOString();
const claim = (heldUntil: string | null, resource = "aws-1") =>
  ({ heldUntil, resource }) as Lease["claims"][number];
const plain = {
  grantedAt: minute(0),
  endsAt: null,
  expiresAt: minute(13),
  revokedAt: null,
  claims: [claim(null)],
  ttl: "10m",
  waitedSeconds: 0,
};
const years = { ttl: "36500d", expiresAt: "2129-12-08T12:00:00.000Z" };

test.each([
  ["nothing but silence", {}, null],
  ["its max lifetime", { endsAt: minute(30) }, [30, "max lifetime"]],
  ["no auto-release: the lease goes on", { claims: [claim(minute(9))] }, null],
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

test("backOf() is the first of the end of the lease and the auto-release of the resource", () => {
  const lease = { ...plain, claims: [claim(minute(9)), claim(null, "dns-1")] };
  const back = (endsAt: string | null, resource: string) => {
    const found = backOf({ ...lease, endsAt }, resource);
    return found && [found.at, found.why];
  };
  expect(back(null, "aws-1")).toEqual([minute(9), "auto-release"]);
  expect(back(minute(5), "aws-1")).toEqual([minute(5), "max lifetime"]);
  expect(back(minute(30), "dns-1")).toEqual([minute(30), "max lifetime"]);
  expect(back(null, "dns-1")).toBeNull();
});

test("expiryBefore() is when it expires, if that comes before its end", () => {
  const before = (changes: Partial<typeof plain> | object) => {
    const lease = { ...plain, ...changes };
    return expiryBefore(endOf(lease), lease);
  };
  expect(before({})).toBe(minute(13));
  expect(before({ endsAt: minute(30) })).toBe(minute(13));
  expect(before({ endsAt: minute(9) })).toBeNull();
  expect(before({ revokedAt: minute(9) })).toBeNull();
  // A cleaner of Boskos never sends heartbeats: nobody wants to read a date in a hundred years.
  expect(before(years)).toBeNull();
  expect(expiryOf({ ...plain, ...years })).toBeNull();
});

test("silenceAt() is the part of the heartbeat timeout that is over", () => {
  const at = (count: number) => silenceAt(pulseOf(plain), Date.parse(minute(count)));
  expect([at(2), at(3), at(8), at(13), at(20)]).toEqual([0, 0, 0.5, 1, 1]);
  // Nobody expects a heartbeat of these.
  expect(pulseOf({ ...plain, ttl: null, expiresAt: null })).toBeNull();
  expect(pulseOf({ ...plain, ...years })).toBeNull();
  expect(pulseOf({ ...plain, revokedAt: minute(4) })).toBeNull();
});

test.each([
  ["", "abc"],
  ["newest", "cba"],
  ["ends", "cba"],
  ["silent", "bac"],
  ["waited", "bac"],
  ["unheard of", "abc"],
  ["__proto__", "abc"],
])("inLeaseOrder() by %j: %s", (order, want) => {
  const leases = [
    { ...plain, id: "c", grantedAt: minute(2), endsAt: minute(20), ttl: null, expiresAt: null },
    { ...plain, id: "a" },
    {
      ...plain,
      id: "b",
      grantedAt: minute(1),
      endsAt: minute(30),
      expiresAt: minute(12),
      waitedSeconds: 9,
    },
  ];
  const ids = inLeaseOrder(leases, order, Date.parse(minute(10))).map(({ id }) => id);
  expect(ids.join("")).toBe(want);
});

test("missedBeats() counts the heartbeats that are missed", () => {
  const missed = (at: number) => missedBeats(pulseOf(plain), Date.parse(minute(at)));
  expect([missed(3), missed(6), missed(7), missed(8), missed(10)]).toEqual([0, 0, 1, 1, 2]);
  expect(missedBeats(null, 0)).toBe(0);
});

test("nextBeatWords() has one form for all leases", () => {
  const pulse = { lastMs: Date.parse(minute(0)), ttlMs: 120_000 };
  const words = (seconds: number, ttlMs = pulse.ttlMs) =>
    nextBeatWords({ ...pulse, ttlMs }, pulse.lastMs + seconds * 1_000);
  expect(words(2)).toBe("due in 38s");
  expect(words(41)).toBe("due now");
  expect(words(60)).toBe("one missed");
  expect(words(100)).toBe("two missed");
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

test("inLeaseOrder() by heartbeats has missed ones first, then the next that is due, as the list says it", () => {
  const at = (id: string, ttl: string, expiresAt: string) => ({ ...plain, id, ttl, expiresAt });
  const now = Date.parse(minute(10));
  const leases = [
    at("due in 2m", "9m", minute(18)),
    at("due in 1m", "30m", minute(31)),
    // It is overdue for less time, but its lease ends with the next one.
    at("two missed", "10m", minute(13)),
    at("one missed", "60m", minute(45)),
  ];
  const want = ["two missed", "one missed", "due in 1m", "due in 2m"];
  expect(inLeaseOrder(leases, "silent", now).map(({ id }) => id)).toEqual(want);
});
