import { describe, expect, test } from "vitest";
import type { LeaseObject, LeaseSpec, Metadata } from "../kubernetes/kube-objects.ts";
import type { Sight } from "../kubernetes/lease-board.ts";
import { expiresAtMs, isExpired, lastHeardMs } from "./expiry.ts";

const hourMs = 3_600_000;
const at = (time: string) => Date.parse(`2026-11-15T${time}Z`);
const lease = (spec: LeaseSpec, metadata: Partial<Metadata> = {}): LeaseObject => ({
  metadata: { name: "slot-0", creationTimestamp: "2026-11-15T16:00:00Z", ...metadata },
  spec: { leaseDurationSeconds: 7_200, ...spec },
});
const noted = (time: string, field: string) => ({
  managedFields: [{ time: `2026-11-15T${time}Z`, fieldsV1: { "f:spec": { [field]: {} } } }],
});

describe("isExpired()", () => {
  const hours = Array.from({ length: 24 }, (_, hour) => hour);
  test.each(hours)(
    "does not expire a slot without times that was created an hour ago at %d:00",
    (hour) => {
      const nowMs = Date.parse("2026-11-15T00:00:00Z") + hour * hourMs;
      const made = new Date(nowMs - hourMs).toISOString();
      const script = lease({}, { creationTimestamp: made });
      expect(isExpired(script, nowMs)).toBe(false);
      expect(isExpired(script, nowMs + 1.1 * hourMs)).toBe(true);
    },
  );

  test.each<[string, LeaseObject, string, boolean, Sight?]>([
    [
      "is false before the last renewal plus the duration",
      lease({ renewTime: "2026-11-15T19:00:00.000000Z" }),
      "20:59:59",
      false,
    ],
    ["is true after it", lease({ renewTime: "2026-11-15T19:00:00.000000Z" }), "21:00:00", true],
    [
      "uses acquireTime if there was no renewal",
      lease({ acquireTime: "2026-11-15T17:30:00Z" }),
      "19:00:00",
      false,
    ],
    ["ignores an empty time", lease({ acquireTime: "", renewTime: "" }), "17:59:00", false],
    ["ignores an invalid time", lease({ renewTime: "yesterday" }), "17:59:00", false],
    [
      "uses the creation time if the holder's clock is behind",
      lease({ renewTime: "2026-11-15T13:00:00Z" }),
      "17:59:00",
      false,
    ],
    [
      "uses the time in managedFields if the holder's clock is behind",
      lease({ renewTime: "2026-11-15T17:00:00Z" }, noted("19:00:00", "f:renewTime")),
      "20:00:00",
      false,
    ],
    [
      "ignores a label that another client set",
      lease({ renewTime: "2026-11-15T17:00:00Z" }, noted("19:00:00", "f:note")),
      "20:00:00",
      true,
    ],
    [
      "counts a time in the future as now",
      lease({ renewTime: "2026-11-15T23:00:00Z" }),
      "19:00:00",
      false,
    ],
    [
      "is true if no change was observed for the whole duration",
      lease({ renewTime: "2026-11-15T23:00:00Z" }),
      "19:00:00",
      true,
      { sinceMs: at("17:00:00"), changed: false },
    ],
    [
      "counts an observed renewal, whatever the holder's clock says",
      lease({ renewTime: "2026-11-15T16:30:00Z" }),
      "19:00:00",
      false,
      { sinceMs: at("18:30:00"), changed: true },
    ],
    [
      "does not count the first list as a renewal",
      lease({ renewTime: "2026-11-15T16:30:00Z" }),
      "19:00:00",
      true,
      { sinceMs: at("18:59:00"), changed: false },
    ],
  ])("%s", (_, slot, now, want, sight) => {
    expect(isExpired(slot, at(now), sight)).toBe(want);
  });

  test("never expires a slot without a duration", () => {
    const kept = { metadata: { name: "slot-0", creationTimestamp: "2020-01-01T00:00:00Z" } };
    expect(
      expiresAtMs({ ...kept, spec: { holderIdentity: "maintenance" } }, at("12:00:00")),
    ).toBeUndefined();
    expect(isExpired(kept, at("12:00:00"))).toBe(false);
  });
});

test("lastHeardMs() is never in the future", () => {
  expect(lastHeardMs(lease({ renewTime: "2026-11-15T23:00:00Z" }), at("17:00:00"))).toBe(
    at("17:00:00"),
  );
});
