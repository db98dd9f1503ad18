import { expect, test } from "vitest";
import { type EventMatch, matches } from "./event-match.ts";

const nobody = { pools: [] };
const drained = {
  type: "resource-changed",
  resource: "aws-3",
  drained: true,
  reason: { by: "Ada", why: "disk" },
};
const queued = {
  type: "request-queued",
  id: "r1",
  ask: { holder: "e2e/7", space: "web", items: [{ pool: "aws", anyOf: ["gcp"] }] },
};
const ended = { type: "lease-ended", id: "r1", why: "expired", back: [{ resource: "aws-1" }] };

test.each<[object, EventMatch, boolean]>([
  [drained, {}, true],
  [drained, { type: "resource-" }, true],
  [drained, { type: "lease-" }, false],
  [drained, { text: "DRAINED" }, true],
  [{ ...drained, drained: false }, { text: "undrained" }, true],
  [drained, { text: "ada" }, true],
  [drained, { text: "reason" }, false],
  [drained, { trouble: true }, false],
  [ended, { trouble: true }, true],
  [queued, { pool: "aws" }, true],
  [queued, { pool: "gcp" }, true],
  [queued, { pool: "azure" }, false],
  [queued, { space: "web" }, true],
  [queued, { space: "ops" }, false],
  [ended, { pool: "aws" }, false],
])("%j matches %j: %s", (event, match, want) => {
  expect(matches({ ...event }, nobody, match)).toBe(want);
});

test("what only the first event of a request says counts for all of them", () => {
  const context = { holder: "e2e/7", space: "web", pools: ["aws"] };
  expect(matches(ended, context, { pool: "aws", space: "web", text: "E2E" })).toBe(true);
  expect(matches(ended, context, { space: "ops" })).toBe(false);
});
