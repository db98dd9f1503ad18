import { describe, expect, test } from "vitest";
import type { FrontObject } from "./front-kind.ts";
import { deletedAtMs, goDurationMs, heldBackBy, quotaOf } from "./quota.ts";

const quota = (namespace: string, spec: unknown): FrontObject => ({
  metadata: { name: "q", namespace },
  spec,
});
const instance = (clusterTemplateRef: string, creationTimestamp = "2026-01-01T00:00:00Z") => ({
  metadata: { name: "i", namespace: "team", creationTimestamp },
  spec: { clusterTemplateRef },
});
const allow = (name: string, more: object = {}) => ({ allowedTemplates: [{ name, ...more }] });
const costOf = (template: string) => (template === "large" ? 10 : 3);

describe("quotaOf()", () => {
  test("is that of its own namespace, and none is no limit", () => {
    const all = [quota("other", allow("small", { count: 1 }))];
    expect(quotaOf(all, "team")).toBe(undefined);
    expect(heldBackBy(undefined, instance("small"), [], costOf)).toBe(undefined);
  });

  test("is all quotas of the namespace: what one allows is allowed, and the smallest budget counts", () => {
    const all = [
      quota("team", { budget: 9, ...allow("small", { count: 2 }) }),
      quota("team", { budget: 5, ...allow("large", { deleteAfter: "90m" }) }),
    ];
    expect(quotaOf(all, "team")).toEqual({
      budget: 5,
      allowed: [
        { name: "small", count: 2, deleteAfterMs: undefined },
        { name: "large", count: undefined, deleteAfterMs: 5_400_000 },
      ],
    });
  });

  test.each([
    undefined,
    null,
    "text",
    { allowedTemplates: "small" },
    { allowedTemplates: [null, 7, {}, { name: 7 }] },
    { budget: "9", allowedTemplates: [] },
    { budget: -1, __proto__: { allowedTemplates: [{ name: "small" }] } },
  ])("allows nothing by a spec that says nothing: %j", (spec) => {
    expect(quotaOf([quota("team", spec)], "team")).toEqual({ budget: undefined, allowed: [] });
  });
});

describe("heldBackBy()", () => {
  const held = (spec: unknown, template: string, others: readonly FrontObject[] = []) =>
    heldBackBy(quotaOf([quota("team", spec)], "team"), instance(template), others, costOf);

  test("refuses a template that the quota does not allow, with those that it does", () => {
    const message = /^Cannot use the template large: .* it allows small$/;
    const refused = { is: "failed", message: expect.stringMatching(message) };
    expect(held(allow("small"), "large")).toEqual(refused);
    expect(held({}, "large")).toMatchObject({ message: expect.stringMatching(/it allows none$/) });
  });

  test("holds back while as many of the same template have asked as it counts", () => {
    const spec = allow("small", { count: 2 });
    expect(held(spec, "small", [instance("small")])).toBe(undefined);
    expect(held(spec, "small", [instance("small"), instance("large")])).toBe(undefined);
    expect(held(spec, "small", [instance("small"), instance("small")])).toEqual({
      is: "held-back",
      message: "The quota of the namespace allows 2 of small at a time",
    });
  });

  test("holds back while the budget is used up, and refuses what it can never pay", () => {
    const spec = { budget: 9, allowedTemplates: [{ name: "small" }, { name: "large" }] };
    const two = [instance("small"), instance("small")];
    expect(held(spec, "small", two)).toBe(undefined);
    expect(held(spec, "small", [...two, instance("small")])).toEqual({
      is: "held-back",
      message: "9 of the budget 9 of the namespace are used, and small costs 3",
    });
    expect(held(spec, "large")).toMatchObject({ is: "failed" });
  });
});

test("deletedAtMs() counts from the creation, by the template's own time", () => {
  const found = quotaOf([quota("team", allow("small", { deleteAfter: "1h" }))], "team");
  expect(deletedAtMs(found, instance("small"))).toBe(Date.parse("2026-01-01T01:00:00Z"));
  expect(deletedAtMs(found, instance("large"))).toBe(undefined);
  expect(deletedAtMs(found, instance("small", "yesterday"))).toBe(undefined);
  expect(deletedAtMs(undefined, instance("small"))).toBe(undefined);
});

test.each([
  ["1h30m", 5_400_000],
  ["90s", 90_000],
  ["1.5h", 5_400_000],
  ["250ms", 250],
  ["1m1ms", 60_001],
  ["0s", undefined],
  ["-1h", undefined],
  ["1", undefined],
  ["1d", undefined],
  ["h", undefined],
  ["", undefined],
  [" 1h", undefined],
])("goDurationMs(%j) is %s", (text, ms) => {
  expect(goDurationMs(text)).toBe(ms);
});
