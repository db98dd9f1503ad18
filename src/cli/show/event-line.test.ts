import { expect, test } from "vitest";
import type { FeedEvent } from "../../client/event-feed.ts";
import { eventLine } from "./event-line.ts";

const facts: Record<string, [event: object, want: string]> = {
  "holder and pools of a request": [
    { id: "r1", ask: { holder: "ci/1", items: [{ pool: "aws", count: 2 }], ttlMs: 1 } },
    "r1 holder=ci/1 wants=aws:2",
  ],
  "the granted resources": [
    { id: "r1", claims: [{ resource: "aws-1" }, { resource: "aws-2" }] },
    "r1 claims=aws-1,aws-2",
  ],
  "the released resources": [
    { id: "r1", why: "released", back: [{ resource: "aws-1", state: "free" }] },
    "r1 why=released back=aws-1:free",
  ],
  "one released resource": [
    { id: "r1", claim: "1", back: { resource: "aws-1", state: "free" } },
    "r1 claim=1 back=aws-1:free",
  ],
  "author and reason": [
    { resource: "aws-1", drained: true, reason: { by: "me", why: "bad disk" } },
    'resource=aws-1 drained=true by=me reason="bad disk"',
  ],
  "an unknown fact": [{ gadget: { a: 1 } }, 'gadget={"a":1}'],
};
test.each(Object.entries(facts))("eventLine() shows %s", (_, [event, want]) => {
  const whole: FeedEvent = { seq: 7, at: "2030-01-01T00:00:00.000Z", type: "t", ...event };
  expect(eventLine(whole)).toBe(`2030-01-01T00:00:00.000Z       7  ${"t".padEnd(16)}  ${want}`);
});
