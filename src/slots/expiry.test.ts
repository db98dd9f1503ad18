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
    "lets a slot live that says no times, if it was made an hour ago at %d:00",
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
      "counts from the last renewal",
      lease({ renewTime: "2026-11-15T19:00:00.000000Z" }),
      "20:59:59",
      false,
    ],
    ["ends after it", lease({ renewTime: "2026-11-15T19:00:00.000000Z" }), "21:00:00", true],
    [
      "takes acquireTime where nothing was renewed",
      lease({ acquireTime: "2026-11-15T17:30:00Z" }),
      "19:00:00",
      false,
    ],
    ["takes an empty time for none", lease({ acquireTime: "", renewTime: "" }), "17:59:00", false],
    ["takes an odd time for none", lease({ renewTime: "yesterday" }), "17:59:00", false],
    [
      "believes the creation where a clock was behind",
      lease({ renewTime: "2026-11-15T13:00:00Z" }),
      "17:59:00",
      false,
    ],
    [
      "believes what the server noted where a clock is behind",
      lease({ renewTime: "2026-11-15T17:00:00Z" }, noted("19:00:00", "f:renewTime")),
      "20:00:00",
      false,
    ],
    [
      "takes a label that somebody set for no sign of life",
      lease({ renewTime: "2026-11-15T17:00:00Z" }, noted("19:00:00", "f:note")),
      "20:00:00",
      true,
    ],
    [
      "takes a time in the future for now",
      lease({ renewTime: "2026-11-15T23:00:00Z" }),
      "19:00:00",
      false,
    ],
    [
      "does not wait for that future where it was watched for all of its time",
      lease({ renewTime: "2026-11-15T23:00:00Z" }),
      "19:00:00",
      true,
      { sinceMs: at("17:00:00"), changed: false },
    ],
    [
      "believes a renewal that was seen, whatever its clock says",
      lease({ renewTime: "2026-11-15T16:30:00Z" }),
      "19:00:00",
      false,
      { sinceMs: at("18:30:00"), changed: true },
    ],
    [
      "takes no first look for a renewal",
      lease({ renewTime: "2026-11-15T16:30:00Z" }),
      "19:00:00",
      true,
      { sinceMs: at("18:59:00"), changed: false },
    ],
  ])("%s", (_, slot, now, want, sight) => {
    expect(isExpired(slot, at(now), sight)).toBe(want);
  });

  test("never ends what says no duration", () => {
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
