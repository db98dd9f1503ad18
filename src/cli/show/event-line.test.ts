import { expect, test } from "vitest";
import type { FeedEvent } from "../../client/event-feed.ts";
import { eventLine } from "./event-line.ts";

const facts: Record<string, [event: object, want: string]> = {
  "holder and pools of a request": [
    { id: "r1", ask: { holder: "ci/1", items: [{ pool: "aws", count: 2 }], ttlMs: 1 } },
    "r1 holder=ci/1 wants=aws:2",
  ],
  "that a starved request goes first": [
    { id: "r1", priority: 0, aged: true, starved: true, pool: "aws" },
    "r1 goes first: its space got nothing of aws for its patience",
  ],
  "the granted resources": [
    { id: "r1", claims: [{ resource: "aws-1" }, { resource: "aws-2" }] },
    "r1 claims=aws-1,aws-2",
  ],
  "the amounts and labels of a request": [
    {
      id: "r1",
      ask: {
        holder: "ci/1",
        items: [
          { pool: "hv", count: 2, amount: { vcpus: 24, memory: 96 } },
          { pool: "aws", count: 1, selector: { region: "eu-west" }, resource: "aws-3" },
        ],
      },
    },
    "r1 holder=ci/1 wants=hv:2(vcpus=24,memory=96),aws:1(aws-3,region=eu-west)",
  ],
  "the granted amounts": [
    { id: "r1", claims: [{ resource: "hv-1", amount: { vcpus: 24, memory: 96 } }] },
    "r1 claims=hv-1(vcpus=24,memory=96)",
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
