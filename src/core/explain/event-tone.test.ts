import { expect, test } from "vitest";
import { isTrouble, toneOf } from "./event-tone.ts";

test("isTrouble() leaves out what is good or ordinary", () => {
  const ends = ["released", "expired"].map((why) => isTrouble({ type: "lease-ended", why }));
  expect([...ends, isTrouble({ type: "lease-granted" })]).toEqual([false, true, false]);
});

test.each([
  ["good", { type: "lease-granted" }],
  ["plain", { type: "lease-ended", why: "released" }],
  ["late", { type: "lease-ended", why: "expired" }],
  ["late", { type: "rate-changed", cause: { how: "throttled" } }],
  ["plain", { type: "rate-changed", cause: { how: "clean" } }],
  ["plain", { type: "pool-signalled", throttled: false }],
  ["bad", { type: "resource-changed", state: "quarantined" }],
  ["bad", { type: "lease-ended", why: "failed", back: [{ state: "quarantined" }] }],
  ["bad", { type: "claim-ended", why: "failed", back: { state: "quarantined" } }],
  ["plain", { type: "lease-ended", why: "released", back: [{ state: "dirty" }] }],
  ["bad", { type: "cluster-lost" }],
  ["plain", { type: "a-type-of-a-newer-server" }],
])("toneOf() is %s for %j", (want, event) => {
  expect(toneOf(event)).toBe(want);
});
