import { expect, test } from "vitest";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { commonReason, ownReason, shortQuota, withoutPace } from "./common-reason.ts";

const rows = (...messages: readonly string[]) =>
  messages.map((message) => ({ reason: { message } }) as WaitingRequest);
const full = "None of 3 free";

test.each([
  ["that of all rows", [`${full}; next in line`, `${full}; 1 ahead`, `${full}; 2 ahead`], full],
  ["none if one row differs", [`${full}; next in line`, `${full}; 1 ahead`, "paced; 2 ahead"], ""],
  [
    "the head of all rows if their numbers differ",
    ["no room: a has 1; next in line", "no room: a has 1; 1 ahead", "no room: b has 2; 2 ahead"],
    "no room",
  ],
  ["none in a short queue", [`${full}; next in line`, `${full}; 1 ahead`], ""],
  ["none if they differ", ["a; 1 ahead", "b; 2 ahead", "c; 3 ahead"], ""],
  ["none if nothing is in common", ["waits", "waits", "waits"], ""],
])("commonReason() is %s", (_, messages, common) => {
  expect(commonReason(rows(...messages))).toBe(common);
});

test("ownReason() leaves out only what is said above", () => {
  expect(ownReason(full, full)).toBe("");
  expect(ownReason(`${full}; 1 ahead`, full)).toBe("1 ahead");
  expect(ownReason(`${full}; next in line`, full)).toBe("Next in line");
  expect(ownReason("no room: esx-1 has 1; 1 ahead", "no room")).toBe("esx-1 has 1; 1 ahead");
  expect(ownReason("paced; 2 ahead", full)).toBe("paced; 2 ahead");
  expect(ownReason(`${full}; 1 ahead`, "")).toBe(`${full}; 1 ahead`);
});

test.each([
  [
    "web holds 4 of its quota of 4 license (ci/1, ci/2 and others), 1 needed; 1 of its space ahead",
    "web quota reached (4/4 license); 1 of its space ahead",
  ],
  [
    "web holds 40 of its quota of 60 vcpus of lab, 30 needed; next of its space",
    "web quota: 40/60 vcpus of lab, 30 needed; next of its space",
  ],
  ["aws (region=eu) has enough free; 1 ahead", "aws (region=eu) has enough free; 1 ahead"],
])("shortQuota() of %s", (reason, want) => {
  expect(shortQuota(reason)).toBe(want);
});

test.each([
  [
    "18 of 20 aws free, paced: one every 2.9s instead of every 2s since it was throttled, the next in 3s",
    "18 of 20 aws free, held back by the pace",
  ],
  [
    "8 of 9 aws free, paced by account: one every 10s, the next in 6s",
    "8 of 9 aws free, held back by the pace of account",
  ],
  [
    "8 of 9 aws free, paced: one every 10s, the next in 6s; 2 ahead",
    "8 of 9 aws free, held back by the pace; 2 ahead",
  ],
  ["All 2 of aws are held", "All 2 of aws are held"],
])("withoutPace() of %s", (reason, want) => {
  expect(withoutPace(reason)).toBe(want);
});
