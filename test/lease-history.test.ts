import { expect, test } from "vitest";
import { type SeenAnswer, type SeenLease, violations } from "./lease-history.ts";

const first: SeenLease = {
  ...{ requestId: "a", id: "1", resource: "r", fence: 1, askedAt: 0, grantedAt: 10 },
  ...{ releaseSentAt: 20, releasedAt: 30 },
};
const second: SeenLease = {
  ...{ requestId: "b", id: "2", resource: "r", fence: 2, askedAt: 12, grantedAt: 25 },
};
const beat: SeenAnswer = { id: "1", call: "heartbeat", sentAt: 12, answeredAt: 15, status: 200 };

test("violations() finds none in a good history", () => {
  const again = { ...beat, call: "ask again", lease: "1" } as const;
  // After the release was sent, nobody knows yet.
  const late = { ...beat, sentAt: 22, answeredAt: 26, status: 410 };
  expect(violations([first, second], [beat, again, late])).toEqual([]);
});

test.each<[string, SeenLease[], SeenAnswer[]]>([
  ["at the same time", [first, { ...second, grantedAt: 19 }], []],
  ["at the same time", [{ ...first, releaseSentAt: 26 }, second], []],
  ["not above an earlier one", [first, { ...second, fence: 1 }], []],
  ["the same fence", [first, { ...second, resource: "x", askedAt: 5, fence: 1 }], []],
  ["became 2 leases", [first, { ...second, requestId: "a" }], []],
  ["was lost", [first], [{ ...beat, status: 404 }]],
  ["after its release", [first], [{ ...beat, sentAt: 31, answeredAt: 32 }]],
  ["gave 2", [first], [{ ...beat, call: "ask again", lease: "2" }]],
  ["unknown lease", [first], [{ ...beat, id: "9" }]],
])("violations() finds what is wrong: %s", (text, leases, answers) => {
  expect(violations(leases, answers)).toContainEqual(expect.stringContaining(text));
});
